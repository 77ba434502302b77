import { Alert, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { GoldenRunBody } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { PartSwitch } from '../../ui/list-controls.tsx'
import { NotFoundState } from '../../ui/not-found-state.tsx'
import { Section } from '../../ui/section.tsx'
import { GoldenFrame } from './golden-frame.tsx'
import { ResultTable } from './result-table.tsx'
import { RunProgress } from './run-progress.tsx'
import { isActive, type Only, type ResultSearch, resultsQuery, runsQuery } from './run-queries.ts'
import { RunState, shownMeasures } from './run-table.tsx'
import { runRoute } from './routes.tsx'

const parts = ['all', 'not_passed', 'worse'] as const

/** One run: its measures compared with the run before it, and the result of each question. */
export function RunPage() {
  const { t } = useTranslation('golden-questions')
  const { spaceId, runId } = runRoute.useParams()
  const search = runRoute.useSearch()
  const navigate = runRoute.useNavigate()
  const { data: runs } = useSuspenseQuery(runsQuery(spaceId))
  const { data: results } = useSuspenseQuery(resultsQuery(spaceId, runId, search))
  const run = runs.items.find(({ id }) => id === runId)
  if (!run) return <NotFoundState />
  const show = (next: ResultSearch) => void navigate({ search: next })
  return (
    <GoldenFrame>
      <RunSummary run={run} />
      <Section title={t('results.title')}>
        <Stack gap="md">
          <PartSwitch
            label={t('results.filter')}
            parts={parts.map((value) => ({ value, label: t(`results.part.${value}`) }))}
            value={search.only ?? 'all'}
            onChange={(value) => show(value === 'all' ? {} : { only: value satisfies Only })}
          />
          <ResultTable
            page={results}
            onPage={(offset) => show({ ...(search.only && { only: search.only }), ...(offset > 0 && { offset }) })}
          />
        </Stack>
      </Section>
    </GoldenFrame>
  )
}

function RunSummary({ run }: { run: GoldenRunBody }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const facts = [
    format.dateTime(run.createdAt),
    run.model,
    ...(run.agentic ? [t('runs.withTools')] : []),
    t('runs.cost', { cost: format.money(run.costUsd) }),
    run.trigger === 'schedule' ? t('runs.bySchedule') : run.startedBy,
  ]
  return (
    <Stack gap="md">
      <Group gap="sm">
        <RunState state={run.state} />
        <Dimmed>{facts.join(' · ')}</Dimmed>
      </Group>
      {isActive(run) && <RunProgress run={run} />}
      {run.reason && (
        <Alert color="red" title={t(`stopReason.${run.reason.code}`)}>
          {t('runs.stoppedText')}
        </Alert>
      )}
      {!isActive(run) && !run.isCurrent && <Alert color="gray">{t('runs.outdated')}</Alert>}
      {run.measures && (
        <SimpleGrid cols={{ base: 2, xs: 3, lg: 5 }}>
          {shownMeasures.map((name) => (
            <Measure
              key={name}
              label={t(`measure.${name}`)}
              value={run.measures?.[name] ?? null}
              before={run.comparison?.measures[name] ?? null}
            />
          ))}
        </SimpleGrid>
      )}
      {run.comparison && (
        <Text size="sm">
          {t('runs.compared', {
            worse: format.number(run.comparison.worse),
            better: format.number(run.comparison.better),
          })}
        </Text>
      )}
    </Stack>
  )
}

/** A share, and how it differs from that of the run before, in percentage points. */
function Measure({ label, value, before }: { label: string; value: number | null; before: number | null }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const points = value === null || before === null ? 0 : Math.round((value - before) * 1000) / 10
  const sign = points > 0 ? '+' : points < 0 ? '−' : '±'
  return (
    <div>
      <Dimmed size="xs">{label}</Dimmed>
      <Text size="xl" fw={600}>
        {value === null ? '–' : format.percent(value)}
      </Text>
      {value !== null && before !== null && (
        <Text size="xs" c={points < 0 ? 'var(--mantine-color-error)' : 'dimmed'}>
          {t('runs.points', { sign, points: format.number(Math.abs(points)) })}
        </Text>
      )}
    </div>
  )
}
