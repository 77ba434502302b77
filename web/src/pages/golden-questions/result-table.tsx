import { Badge, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenResultBody } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { type DataColumn, PagedTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import styles from './golden.module.css'
import { questionOf } from './queries.ts'
import type { ResultPageBody } from './run-queries.ts'

const ResultDialog = lazyPart(() => import('./result-dialog.tsx'), 'ResultDialog')

/** The result of each question; a click shows the answer. */
export function ResultTable({ page, onPage }: { page: ResultPageBody; onPage: (offset: number) => void }) {
  const { t } = useTranslation('golden-questions')
  const [chosen, setChosen] = useState<GoldenResultBody>()
  const [isOpen, dialog] = useDisclosure(false)
  const open = useCallback(
    (result: GoldenResultBody) => {
      setChosen(result)
      dialog.open()
    },
    [dialog],
  )
  const columns = useColumns(open)
  return (
    <>
      <PagedTable
        label={t('results.title')}
        columns={columns}
        rows={page.items}
        rowId={({ questionId }) => questionId}
        empty={<EmptyState title={t('results.empty')} />}
        minimumWidth={1000}
        total={page.total}
        limit={page.limit}
        offset={page.offset}
        onPage={onPage}
      />
      <OnceOpened opened={isOpen}>
        {chosen && <ResultDialog opened={isOpen} result={chosen} onClose={dialog.close} />}
      </OnceOpened>
    </>
  )
}

const colours = { pending: 'gray', passed: 'teal', failed: 'red', error: 'red', skipped: 'gray' } as const
/** Problems first. */
const order = ['error', 'failed', 'skipped', 'pending', 'passed']

const isWorse = ({ outcome, previous }: GoldenResultBody) =>
  previous === 'passed' && (outcome === 'failed' || outcome === 'error')

export function Outcome({ result }: { result: GoldenResultBody }) {
  const { t } = useTranslation('golden-questions')
  return (
    <Group gap={6}>
      <Badge variant="dot" color={colours[result.outcome]} tt="none" fw={500}>
        {t(`outcome.${result.outcome}`)}
      </Badge>
      {isWorse(result) && (
        <Badge variant="light" color="red" tt="none" fw={500}>
          {t('results.gotWorse')}
        </Badge>
      )}
    </Group>
  )
}

function useColumns(onOpen: (result: GoldenResultBody) => void): DataColumn<GoldenResultBody>[] {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  return useMemo(
    (): DataColumn<GoldenResultBody>[] => [
      {
        id: 'question',
        header: t('field.question'),
        accessorFn: questionOf,
        cell: ({ row: { original: result } }) => (
          <UnstyledButton onClick={() => onOpen(result)} className={styles['open']!}>
            {questionOf(result)}
          </UnstyledButton>
        ),
      },
      {
        id: 'outcome',
        header: t('results.outcome'),
        accessorFn: (result) => order.indexOf(result.outcome) * 2 - Number(isWorse(result)),
        cell: ({ row }) => <Outcome result={row.original} />,
      },
      {
        id: 'found',
        header: t('results.found'),
        accessorFn: ({ measures }) => measures?.retrievalRecall ?? -1,
        cell: ({ row }) => <Documents result={row.original} has={({ rank }) => rank !== null} />,
      },
      {
        id: 'cited',
        header: t('results.cited'),
        accessorFn: ({ measures }) => measures?.citationRecall ?? -1,
        cell: ({ row }) => <Documents result={row.original} has={({ isCited }) => isCited} />,
      },
      {
        id: 'facts',
        header: t('results.missingFacts'),
        accessorFn: ({ measures }) => measures?.factShare ?? -1,
        cell: ({ row }) => <MissingFacts result={row.original} />,
      },
      {
        id: 'time',
        header: t('results.time'),
        accessorFn: ({ measures }) => measures?.milliseconds ?? -1,
        cell: ({ row: { original: result } }) =>
          result.measures ? format.duration(result.measures.milliseconds) : '–',
      },
    ],
    [t, format, onOpen],
  )
}

type Expected = GoldenResultBody['expectedDocuments'][number]

/** Expected documents, those that lack something marked. */
function Documents({ result, has }: { result: GoldenResultBody; has: (document: Expected) => boolean }) {
  const { t } = useTranslation('golden-questions')
  if (result.measures === null || result.expectedDocuments.length === 0) return <>–</>
  return (
    <Stack gap={2}>
      {result.expectedDocuments.map((document) => (
        <Text key={document.id} size="sm" c={has(document) ? undefined : 'var(--mantine-color-error)'}>
          {has(document) ? document.name : t('results.missing', { name: document.name })}
        </Text>
      ))}
    </Stack>
  )
}

function MissingFacts({ result: { measures, expectedFacts } }: { result: GoldenResultBody }) {
  const { t } = useTranslation('golden-questions')
  if (measures === null || expectedFacts.length === 0) return <>–</>
  const missing = expectedFacts.filter(({ isFound }) => !isFound)
  if (missing.length === 0) return <Text size="sm">{t('results.noMissingFact')}</Text>
  return (
    <Stack gap={2}>
      {missing.map(({ text }) => (
        <Text key={text} size="sm" c="var(--mantine-color-error)">
          {text}
        </Text>
      ))}
    </Stack>
  )
}
