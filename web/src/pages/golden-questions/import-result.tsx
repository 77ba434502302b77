import { List, ScrollArea, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconEqual } from '@tabler/icons-react'
import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { errorText } from '../../api/error-text.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import type { ImportReport } from './import-file.ts'

type Refused = ImportReport['refused'][number]

/** How many questions a file adds, has twice, and loses, and why it loses them. `isDone`: they were added. */
export function ImportResult({ report, isDone }: { report: ImportReport; isDone: boolean }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const { added, existing, refused } = report
  const count = (number: number) => ({ count: number, n: format.number(number) })
  return (
    <Stack gap="sm">
      <List size="sm" spacing={6} center aria-live="polite">
        <List.Item icon={<Mark color={added > 0 ? 'teal' : 'gray'} icon={<IconCheck size={14} aria-hidden />} />}>
          {t(isDone ? 'import.added' : 'import.new', count(added))}
        </List.Item>
        {existing > 0 && (
          <List.Item icon={<Mark color="gray" icon={<IconEqual size={14} aria-hidden />} />}>
            {t('import.existing', count(existing))}
          </List.Item>
        )}
        {refused.length > 0 && (
          <List.Item icon={<Mark color="red" icon={<IconAlertTriangle size={14} aria-hidden />} />}>
            {t(isDone ? 'import.left' : 'import.refused', count(refused.length))}
          </List.Item>
        )}
      </List>
      {refused.length > 0 && (
        <>
          {!isDone && <Text size="sm">{t(added > 0 ? 'import.correctOrSkip' : 'import.correct')}</Text>}
          <ScrollArea.Autosize mah={320} type="auto">
            <RefusedTable refused={refused} />
          </ScrollArea.Autosize>
        </>
      )}
    </Stack>
  )
}

function Mark({ color, icon }: { color: string; icon: ReactNode }) {
  return (
    <ThemeIcon size={22} radius="xl" variant="light" color={color}>
      {icon}
    </ThemeIcon>
  )
}

function RefusedTable({ refused }: { refused: Refused[] }) {
  const { t } = useTranslation('golden-questions')
  const describe = useProblem()
  const columns = useMemo(
    (): DataColumn<Refused>[] => [
      column('place', t('import.place'), ({ line, number }) =>
        line === null ? t('import.number', { number }) : t('import.line', { line }),
      ),
      column('question', t('import.question'), ({ question }) => (
        <Text size="sm" lineClamp={2} {...(!question?.trim() && { c: 'dimmed' })}>
          {question?.trim() || t('import.noText')}
        </Text>
      )),
      column('problem', t('import.problem'), (refusal) => <Text size="sm">{describe(refusal)}</Text>),
    ],
    [t, describe],
  )
  return (
    <DataTable
      label={t('import.refused', { count: refused.length, n: refused.length })}
      columns={columns}
      rows={refused}
      rowId={({ number }) => String(number)}
      minimumWidth={480}
    />
  )
}

/** The problem with the label of its field: English sentences name the field as the file has it, translated ones do not. */
function useProblem(): (refused: Refused) => string {
  const { t } = useTranslation('golden-questions')
  return useMemo(
    () =>
      ({ field, message }) => {
        const text = errorText('invalid_request', message)
        const [name = '', index] = field.split('.')
        const label = isLabelled(name) ? t(`field.${labels[name]}`) : undefined
        if (label === undefined) return text
        const isEntry = name !== 'messages' && index !== undefined
        const named = isEntry ? t('import.entry', { field: label, entry: Number(index) + 1 }) : label
        return text === message ? text.replace(/^(?:Entry \d+ of )?`[^`]*`/, () => named) : `${named}: ${text}`
      },
    [t],
  )
}

const labels = { messages: 'question', expectedDocuments: 'documents', expectedFacts: 'facts' } as const

const isLabelled = (name: string): name is keyof typeof labels => Object.hasOwn(labels, name)
