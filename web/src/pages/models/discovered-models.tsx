import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import type { DiscoveredModels } from '@contract/models.ts'
import { Alert, Button, Checkbox, Group, Stack, Table, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { SearchField } from '../../ui/list-controls.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { PriceInput } from './price-input.tsx'
import { Tag } from './tag.tsx'
import { Advice } from './test-result.tsx'
import { useCatalogueChange } from './use-catalogue.ts'

type Listed = DiscoveredModels['data'][number]

/** Prices that the operator states for one model, in US dollars per million tokens. */
interface Choice {
  model: string
  input: string
  output: string
}

/** Most models that are drawn; the search finds the others. */
const shownModels = 200
/** The API adds at most this many at once. */
const maximumChosen = 100

/** The models that a provider lists; the chosen ones become deployments. */
export function DiscoveredModelsList(props: { providerId: string; found: DiscoveredModels; onAdded: () => void }) {
  const { providerId, found, onAdded } = props
  const { t } = useTranslation('models')
  const [search, setSearch] = useState('')
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map())
  const [error, setError] = useState<string>()
  const add = useAdding(providerId, found, choices)
  if (found.error) return <Advice error={found.error} />
  if (found.data.length === 0) return <Alert color="gray">{t('discover.none')}</Alert>
  const matching = found.data.filter(({ wireId }) => wireId.toLowerCase().includes(search.trim().toLowerCase()))
  const change = (wireId: string, choice: Choice | undefined) => {
    const next = new Map(choices)
    if (choice) next.set(wireId, choice)
    else next.delete(wireId)
    setChoices(next)
  }
  const submit = () =>
    add.mutate(undefined, {
      onSuccess: onAdded,
      onError: (caught) => setError(caught instanceof ApiError ? caught.message : undefined),
    })
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <SearchField label={t('discover.search', { count: found.total })} value={search} onChange={setSearch} />
        <Button onClick={submit} disabled={choices.size === 0 || choices.size > maximumChosen} loading={add.isPending}>
          {t('discover.add', { count: choices.size })}
        </Button>
      </Group>
      {error && <Alert color="red">{error}</Alert>}
      <ModelRows rows={matching.slice(0, shownModels)} choices={choices} onChange={change} />
      {matching.length > shownModels && (
        <Dimmed>{t('discover.more', { shown: shownModels, total: matching.length })}</Dimmed>
      )}
    </Stack>
  )
}

function useAdding(providerId: string, found: DiscoveredModels, choices: ReadonlyMap<string, Choice>) {
  const { t } = useTranslation('models')
  const kinds = new Map(found.data.map(({ wireId, kind }) => [wireId, kind]))
  return useCatalogueChange(
    () =>
      postJson(`/api/providers/${encodeURIComponent(providerId)}/deployments`, {
        deployments: [...choices].map(([wireId, { model, input, output }]) => ({
          wireId,
          model: model.trim(),
          kind: kinds.get(wireId),
          ...(input.trim() !== '' && {
            prices: { input: input.trim(), ...(output.trim() !== '' && { output: output.trim() }) },
          }),
        })),
      }),
    () => t('discover.added', { count: choices.size }),
    { hasErrorPlace: true },
  )
}

function ModelRows(props: {
  rows: Listed[]
  choices: ReadonlyMap<string, Choice>
  onChange: (wireId: string, choice: Choice | undefined) => void
}) {
  const { t } = useTranslation('models')
  return (
    <TableFrame label={t('discover.title')} minimumWidth={560} spacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('discover.model')}</Table.Th>
          <Table.Th>{t('discover.price')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {props.rows.map((row) => (
          <ModelRow
            key={row.wireId}
            row={row}
            choice={props.choices.get(row.wireId)}
            onChange={(choice) => props.onChange(row.wireId, choice)}
          />
        ))}
      </Table.Tbody>
    </TableFrame>
  )
}

function ModelRow(props: { row: Listed; choice: Choice | undefined; onChange: (choice: Choice | undefined) => void }) {
  const { row, choice, onChange } = props
  const { t } = useTranslation('models')
  const format = useFormat()
  const isAdded = row.deployments.length > 0
  return (
    <Table.Tr>
      <Table.Td>
        <Checkbox
          label={
            <Text span ff="monospace" size="sm">
              {row.wireId}
            </Text>
          }
          description={[
            row.kind === 'chat' ? undefined : t(`kind.${row.kind}`),
            row.contextTokens === null
              ? undefined
              : t('discover.context', { tokens: format.compact(row.contextTokens) }),
          ]
            .filter((one) => one !== undefined)
            .join(' · ')}
          checked={choice !== undefined}
          disabled={isAdded}
          onChange={(event) =>
            onChange(event.currentTarget.checked ? { model: row.model, input: '', output: '' } : undefined)
          }
        />
        {choice && (
          <TextInput
            mt={6}
            size="xs"
            label={t('discover.clientId')}
            value={choice.model}
            onChange={(event) => onChange({ ...choice, model: event.currentTarget.value })}
          />
        )}
      </Table.Td>
      <Table.Td>
        {isAdded ? (
          <Tag color="teal">{t('discover.present')}</Tag>
        ) : (
          <RowPrice row={row} choice={choice} onChange={onChange} />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function RowPrice(props: { row: Listed; choice: Choice | undefined; onChange: (choice: Choice) => void }) {
  const { row, choice, onChange } = props
  const { t } = useTranslation('models')
  const format = useFormat()
  if (row.prices)
    return (
      <Text size="sm">
        {format.money(row.prices.input, { exact: true })} / {format.money(row.prices.output, { exact: true })}
        <Text span c="dimmed" size="xs">
          {' '}
          {t('discover.fromList')}
        </Text>
      </Text>
    )
  if (!choice) return <Dimmed>{t('discover.noPrice')}</Dimmed>
  return (
    <Group gap="xs" wrap="nowrap">
      <PriceInput
        size="xs"
        label={t('price.input')}
        value={choice.input}
        onChange={(input) => onChange({ ...choice, input })}
      />
      {row.kind === 'chat' && (
        <PriceInput
          size="xs"
          label={t('price.output')}
          value={choice.output}
          onChange={(output) => onChange({ ...choice, output })}
        />
      )}
    </Group>
  )
}
