import '@mantine/core/styles/Accordion.css'
import type { ModelRow, ModelsView } from '@contract/console-models.ts'
import type { ModelKind } from '@contract/model-kinds.ts'
import { Accordion, Group, List, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, PagedTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { AnchorLink, ButtonLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { PartSwitch, SearchField } from '../../ui/list-controls.tsx'
import { Select } from '../../ui/select.tsx'
import { isFiltered, modelKinds, modelsAvailabilities, modelsQuery, pageSizes } from './routes.tsx'
import { Tag } from './tag.tsx'

const route = getRouteApi('/shell/operator/models')

export function ModelsPage() {
  const { t } = useTranslation('models')
  const format = useFormat()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data } = useSuspenseQuery(modelsQuery(search))
  // The server pages the list, so a sorted column would only sort this page.
  const columns = useColumns(data.items.length === data.total)
  return (
    <Page
      title={t('title')}
      description={t('description', { date: format.day(data.snapshotDate) })}
      actions={
        <ButtonLink to="/operator/semantic-search" variant="default">
          {t('semanticSearch')}
        </ButtonLink>
      }
    >
      <Filters counts={data.counts} />
      <Problems problems={data.problems} />
      <PagedTable
        label={t('title')}
        columns={columns}
        rows={data.items}
        rowId={({ id }) => id}
        minimumWidth={960}
        empty={
          <EmptyState
            title={t('none')}
            text={t('noneText')}
            onClear={isFiltered(search) ? () => void navigate({ search: {} }) : undefined}
            action={<AnchorLink to="/operator/providers">{t('providers.title')}</AnchorLink>}
          />
        }
        total={data.total}
        limit={pageSizes.models}
        offset={search.offset ?? 0}
        onPage={(offset) => void navigate({ search: (before) => ({ ...before, offset }) })}
      />
    </Page>
  )
}

function Filters({ counts }: { counts: ModelsView['counts'] }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Group gap="sm">
      <PartSwitch
        label={t('filter')}
        value={search.availability ?? 'all'}
        onChange={(availability) =>
          void navigate({ search: ({ offset: _offset, ...before }) => ({ ...before, availability }) })
        }
        parts={modelsAvailabilities.map((value) => ({
          value,
          label: `${t(`availability.${value}`)} ${format.number(counts[value])}`,
        }))}
      />
      <Select
        aria-label={t('kindLabel')}
        placeholder={t('kindLabel')}
        data={modelKinds.map((value) => ({ value, label: t(`kind.${value}`) }))}
        value={search.kind ?? null}
        onChange={(kind) =>
          void navigate({
            search: ({ offset: _offset, kind: _kind, ...before }) => ({
              ...before,
              ...(kind && { kind: kind as ModelKind }),
            }),
          })
        }
        clearable
        w={160}
      />
      <SearchField
        label={t('search')}
        value={search.search}
        onChange={(text) =>
          void navigate({ search: ({ offset: _offset, ...before }) => ({ ...before, search: text }), replace: true })
        }
      />
    </Group>
  )
}

/** Declarations that have no effect, with the reason. */
function Problems({ problems }: { problems: string[] }) {
  const { t } = useTranslation('models')
  if (problems.length === 0) return null
  return (
    <Accordion variant="contained">
      <Accordion.Item value="problems">
        <Accordion.Control>
          <Text size="sm" fw={500}>
            {t('problems', { count: problems.length })}
          </Text>
        </Accordion.Control>
        <Accordion.Panel>
          <List size="sm" spacing={4}>
            {problems.map((problem) => (
              <List.Item key={problem}>{problem}</List.Item>
            ))}
          </List>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

function useColumns(isComplete: boolean): DataColumn<ModelRow>[] {
  const { t } = useTranslation('models')
  return useMemo(
    () =>
      [
        column<ModelRow>('id', t('model'), (model) => <ModelCell {...model} />, 'id'),
        column<ModelRow>(
          'available',
          t('available'),
          (model) => <Availability {...model} />,
          ({ callableIds }) => callableIds.length,
        ),
        column<ModelRow>('context', t('context'), (model) => <Limits {...model} />, 'contextTokens'),
        column<ModelRow>(
          'input',
          t('price.inputMillion'),
          (model) => <PriceRange row={model} name="input" />,
          ({ price }) => Number(price?.from.input ?? -1),
        ),
        column<ModelRow>(
          'output',
          t('price.outputMillion'),
          (model) => <PriceRange row={model} name="output" />,
          ({ price }) => Number(price?.from.output ?? -1),
        ),
        column<ModelRow>(
          'deployments',
          t('deploymentCount'),
          ({ deployments: { callable, total } }) => (
            <Text size="sm">{callable === total ? total : `${callable} / ${total}`}</Text>
          ),
          ({ deployments }) => deployments.callable,
        ),
        column<ModelRow>(
          'disabledBy',
          t('disabledBy'),
          ({ disabledBy }) => (
            <Text size="sm" c={disabledBy > 0 ? undefined : 'dimmed'}>
              {disabledBy === 0 ? '–' : t('organisations', { count: disabledBy })}
            </Text>
          ),
          'disabledBy',
        ),
      ].map((one) => ({ ...one, enableSorting: isComplete })),
    [t, isComplete],
  )
}

function ModelCell({ id, aliases, kind, enabled, ownedBy }: ModelRow) {
  const { t } = useTranslation('models')
  return (
    <div>
      <Group gap="xs" wrap="nowrap">
        <AnchorLink ff="monospace" fz="sm" to="/operator/models/$modelId" params={{ modelId: id }}>
          {id}
        </AnchorLink>
        {!enabled && <Tag color="gray">{t('state.disabled')}</Tag>}
        {kind !== 'chat' && <Tag>{t(`kind.${kind}`)}</Tag>}
      </Group>
      <Dimmed size="xs" lineClamp={1} maw={360}>
        {[ownedBy, ...aliases].join(' · ')}
      </Dimmed>
    </div>
  )
}

export function Availability({ callableIds }: Pick<ModelRow, 'callableIds'>) {
  const { t } = useTranslation('models')
  if (callableIds.length === 0) return <Dimmed>{t('notCallable')}</Dimmed>
  return (
    <Group gap={4} wrap="nowrap">
      {callableIds.some((id) => !id.startsWith('eu/')) && <Tag text={t('sideText.other')}>{t('plainId')}</Tag>}
      {callableIds.some((id) => id.startsWith('eu/')) && (
        <Tag color="blue" text={t('sideText.eu')}>
          EU
        </Tag>
      )}
    </Group>
  )
}

function Limits({ contextTokens, maxOutputTokens }: ModelRow) {
  const format = useFormat()
  return (
    <Text size="sm">
      {format.compact(contextTokens)}
      {maxOutputTokens > 0 && (
        <Text span size="xs" c="dimmed">
          {` / ${format.compact(maxOutputTokens)}`}
        </Text>
      )}
    </Text>
  )
}

function PriceRange({ row, name }: { row: ModelRow; name: 'input' | 'output' }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const { price, nextPriceAt } = row
  if (!price) return <Text size="sm">–</Text>
  const [from, to] = [price.from[name], price.to[name]].map((usd) => format.money(usd, { exact: true }))
  return (
    <>
      <Text size="sm">{from === to ? from : `${from} – ${to}`}</Text>
      {name === 'input' && nextPriceAt !== null && (
        <Dimmed size="xs">{t('nextPrice', { date: format.date(nextPriceAt) })}</Dimmed>
      )}
    </>
  )
}
