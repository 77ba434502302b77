import { Anchor, Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { UsageRequest } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Hint } from '../../ui/hint.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { Money } from './money.tsx'
import { useNames } from './names.ts'
import { useUsage } from './use-usage.ts'
import { AnchorLink } from '../../ui/link.tsx'

export function RequestsTable({ organisationId, items }: { organisationId: string; items: UsageRequest[] }) {
  const { t } = useTranslation('usage')
  return (
    <TableFrame label={t('requests.title')} minimumWidth={960} hasCards>
      <Table.Thead>
        <Table.Tr>
          {(['time', 'model', 'from', 'tokens', 'duration', 'cost', 'ending', 'tags'] as const).map((column) => (
            <Table.Th key={column}>{t(`requests.column.${column}`)}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((request) => (
          <RequestRow key={request.requestId} organisationId={organisationId} request={request} />
        ))}
      </Table.Tbody>
    </TableFrame>
  )
}

function RequestRow({ organisationId, request }: { organisationId: string; request: UsageRequest }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const names = useNames()
  const { startedAt, model, surface, spaceId, spaceName, promptTokens, completionTokens } = request
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={0} style={{ whiteSpace: 'nowrap' }}>
          <AnchorLink
            to="/organisations/$organisationId/receipts/$requestId"
            params={{ organisationId, requestId: request.requestId }}
            fz="sm"
            aria-label={t('requests.receipt', { time: format.dateTime(startedAt) })}
          >
            {format.dateTime(startedAt)}
          </AnchorLink>
          <Dimmed size="xs" ff="monospace">
            {request.requestId.slice(0, 20)}…
          </Dimmed>
        </Stack>
      </Table.Td>
      <Table.Td data-label={t('requests.column.model')}>{model}</Table.Td>
      <Table.Td data-label={t('requests.column.from')}>
        {spaceId === null ? names.surface(surface) : names.value('space', { id: spaceId, label: spaceName })}
      </Table.Td>
      <Table.Td data-label={t('requests.column.tokens')} style={{ whiteSpace: 'nowrap' }}>
        {format.number(promptTokens)} → {format.number(completionTokens)}
      </Table.Td>
      <Table.Td data-label={t('requests.column.duration')}>
        <Duration request={request} />
      </Table.Td>
      <Table.Td data-label={t('requests.column.cost')}>
        <Money usd={request.billedUsd} />
      </Table.Td>
      <Table.Td data-label={t('requests.column.ending')}>
        <Ending request={request} />
      </Table.Td>
      <Table.Td data-label={t('requests.column.tags')}>
        <Tags tags={request.tags} />
      </Table.Td>
    </Table.Tr>
  )
}

function Duration({ request: { durationMs, firstTokenMs } }: { request: UsageRequest }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  if (firstTokenMs === null) return format.duration(durationMs)
  return (
    <Hint label={() => t('requests.firstToken', { duration: format.duration(firstTokenMs) })}>
      <Text span inherit>
        {format.duration(durationMs)}
      </Text>
    </Hint>
  )
}

function Ending({ request: { ending, failure, estimated, schemaMismatch } }: { request: UsageRequest }) {
  const { t } = useTranslation('usage')
  const names = useNames()
  return (
    <Group gap={6}>
      <Text span size="sm" fw={ending === 'completed' ? undefined : 600}>
        {names.ending(ending)}
        {failure !== null && (
          <Text span size="xs" c="dimmed" ff="monospace">
            {' '}
            {failure}
          </Text>
        )}
      </Text>
      {estimated && (
        <Badge variant="default" tt="none" fw={500}>
          {t('requests.estimated')}
        </Badge>
      )}
      {schemaMismatch !== null && (
        <Badge variant="default" tt="none" fw={500}>
          {t('requests.schemaMismatch')}
        </Badge>
      )}
    </Group>
  )
}

function Tags({ tags }: { tags: UsageRequest['tags'] }) {
  const { t } = useTranslation('usage')
  const names = useNames()
  const { change } = useUsage()
  return (
    <Group gap={6}>
      {tags.map(({ key, value }) => (
        <Anchor
          key={key}
          component="button"
          type="button"
          fz="xs"
          title={t('spend.filterBy', { value })}
          onClick={() => change({ tagKey: key, tagValue: value })}
        >
          {names.split(key)}: {value}
        </Anchor>
      ))}
    </Group>
  )
}
