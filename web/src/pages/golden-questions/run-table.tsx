import { Badge, Group, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenRunBody, GoldenRunMeasures } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** Measures of the table and of the chart, the most important first. */
export const shownMeasures = [
  'passedShare',
  'retrievalHitRate',
  'citationRecall',
  'citationPrecision',
  'factShare',
] as const satisfies readonly (keyof GoldenRunMeasures)[]

const colours = {
  queued: 'gray',
  running: 'portico',
  completed: 'teal',
  cancelled: 'gray',
  stopped: 'red',
  failed: 'red',
} as const

export function RunState({ state }: Pick<GoldenRunBody, 'state'>) {
  const { t } = useTranslation('golden-questions')
  return (
    <Badge variant="dot" color={colours[state]} tt="none" fw={500}>
      {t(`runState.${state}`)}
    </Badge>
  )
}

/** How many questions passed in the run before it and not in this one. */
export function WorseBadge({ comparison }: Pick<GoldenRunBody, 'comparison'>) {
  const { t } = useTranslation('golden-questions')
  if (!comparison || comparison.worse === 0) return null
  return (
    <Badge variant="light" color="red" tt="none" fw={500}>
      {t('runs.worse', { count: comparison.worse })}
    </Badge>
  )
}

export function RunTable(props: { organisationId: string; spaceId: string; runs: GoldenRunBody[] }) {
  const { organisationId, spaceId, runs } = props
  const { t } = useTranslation('golden-questions')
  const columns = useColumns(organisationId, spaceId)
  return <DataTable label={t('runs.history')} columns={columns} rows={runs} rowId={({ id }) => id} minimumWidth={940} />
}

function useColumns(organisationId: string, spaceId: string): DataColumn<GoldenRunBody>[] {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  return useMemo(
    (): DataColumn<GoldenRunBody>[] => [
      column(
        'createdAt',
        t('runs.started'),
        ({ id, createdAt }) => (
          <AnchorLink
            to="/organisations/$organisationId/spaces/$spaceId/golden-questions/runs/$runId"
            params={{ organisationId, spaceId, runId: id }}
            size="sm"
            fw={500}
          >
            {format.dateTime(createdAt)}
          </AnchorLink>
        ),
        'createdAt',
      ),
      column(
        'state',
        t('runs.state'),
        ({ state, comparison }) => (
          <Group gap={6}>
            <RunState state={state} />
            <WorseBadge comparison={comparison} />
          </Group>
        ),
        'state',
      ),
      ...shownMeasures.map((name) =>
        column<GoldenRunBody>(
          name,
          t(`measure.${name}`),
          ({ measures }) => {
            const value = measures?.[name]
            return value === undefined || value === null ? '–' : format.percent(value)
          },
          // Runs without the measure sort below 0 %.
          ({ measures }) => measures?.[name] ?? -1,
        ),
      ),
      column(
        'cost',
        t('runs.costColumn'),
        ({ costUsd }) => format.money(costUsd),
        ({ costUsd }) => Number(costUsd),
      ),
      column(
        'startedBy',
        t('runs.by'),
        ({ trigger, startedBy }) => (
          <Text size="sm" truncate maw={160}>
            {trigger === 'schedule' ? t('runs.bySchedule') : startedBy}
          </Text>
        ),
        'startedBy',
      ),
    ],
    [t, format, organisationId, spaceId],
  )
}
