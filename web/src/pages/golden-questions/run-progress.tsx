import { Button, Group, Paper, Progress, Stack, Text } from '@mantine/core'
import { IconPlayerStop } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { GoldenRunBody } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { useCancelRun } from './use-runs.ts'

/** How far a run is, what it has cost so far, and a way to end it. */
export function RunProgress({ run }: { run: GoldenRunBody }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const cancel = useCancelRun(run.spaceId)
  const { total, pending, passed, failed, error } = run.questions
  const done = total - pending
  const text =
    run.state === 'queued'
      ? t('runs.queued')
      : t('runs.progress', { done: format.number(done), total: format.number(total) })
  const facts = [
    t('runs.passed', { n: format.number(passed) }),
    t('runs.notPassed', { n: format.number(failed + error) }),
    t('runs.cost', { cost: format.money(run.costUsd) }),
  ]
  return (
    <Paper withBorder p="md" component="section" aria-label={t('runs.running')}>
      <Stack gap="xs">
        <Group justify="space-between" gap="sm">
          <Text fw={600} role="status">
            {text}
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlayerStop size={14} aria-hidden />}
            loading={cancel.isPending}
            onClick={() => cancel.mutate(run.id)}
          >
            {t('runs.cancel')}
          </Button>
        </Group>
        <Progress value={total === 0 ? 0 : (done / total) * 100} aria-label={text} />
        <Dimmed>{facts.join(' · ')}</Dimmed>
      </Stack>
    </Paper>
  )
}
