import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { badColor } from './colors.ts'

/** An organisation's documents usually wait for seconds. */
const longWaitMs = 5 * 60_000

/** The figures that show whether something is wrong. */
export function SystemSummary({ system }: { system: ConsoleSystemBody }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const { kinds } = system.queue
  const sum = (field: 'ready' | 'delayed' | 'running' | 'retrying') =>
    kinds.reduce((total, kind) => total + kind[field], 0)
  const oldest = kinds.flatMap(({ oldestWaitingAt }) => oldestWaitingAt ?? []).toSorted()[0]
  const waitMs = oldest === undefined ? 0 : new Date(system.at).getTime() - new Date(oldest).getTime()
  const silent = system.instances.filter(({ alive }) => !alive).length
  const failed = system.storage?.documents.failed
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, lg: 6 }} spacing="xl">
      <Figure label={t('system.waiting')} value={format.number(sum('ready') + sum('delayed'))} />
      <Figure label={t('system.running')} value={format.number(sum('running'))} />
      <Figure label={t('system.retrying')} value={format.number(sum('retrying'))} isBad={sum('retrying') > 0} />
      <Figure
        label={t('system.oldest')}
        value={oldest === undefined ? '–' : format.relative(oldest, new Date(system.at).getTime())}
        isBad={waitMs > longWaitMs}
      />
      <Figure
        label={t('system.failedDocuments')}
        value={failed === undefined ? '–' : format.number(failed)}
        isBad={(failed ?? 0) > 0}
      />
      <Figure
        label={t('system.instances')}
        value={
          silent === 0
            ? format.number(system.instances.length)
            : t('system.instancesSilent', { alive: system.instances.length - silent, silent })
        }
        isBad={silent > 0}
      />
    </SimpleGrid>
  )
}

function Figure({ label, value, isBad = false }: { label: string; value: string; isBad?: boolean }) {
  return (
    <Stack gap={2}>
      <Dimmed>{label}</Dimmed>
      <Text fz={22} fw={600} lh={1.2} c={isBad ? badColor : undefined}>
        {value}
      </Text>
    </Stack>
  )
}
