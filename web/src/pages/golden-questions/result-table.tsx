import { Badge, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenResultBody } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, PagedTable } from '../../ui/data-table.tsx'
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
        minimumWidth={940}
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
      <Badge variant="dot" color={colours[result.outcome]} tt="none" fw={500} miw="max-content">
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
      column(
        'question',
        t('field.question'),
        (result) => (
          <UnstyledButton onClick={() => onOpen(result)} className={styles['open']!}>
            {questionOf(result)}
          </UnstyledButton>
        ),
        questionOf,
      ),
      column(
        'outcome',
        t('results.outcome'),
        (result) => <Outcome result={result} />,
        (result) => order.indexOf(result.outcome) * 2 - Number(isWorse(result)),
      ),
      column(
        'found',
        t('results.found'),
        (result) => <Documents result={result} has={({ rank }) => rank !== null} />,
        ({ measures }) => measures?.retrievalRecall ?? -1,
      ),
      column(
        'cited',
        t('results.cited'),
        (result) => <Documents result={result} has={({ isCited }) => isCited} />,
        ({ measures }) => measures?.citationRecall ?? -1,
      ),
      column(
        'facts',
        t('results.missingFacts'),
        (result) => <MissingFacts result={result} />,
        ({ measures }) => measures?.factShare ?? -1,
      ),
      column(
        'time',
        t('results.time'),
        ({ measures }) => (measures ? format.duration(measures.milliseconds) : '–'),
        ({ measures }) => measures?.milliseconds ?? -1,
      ),
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
