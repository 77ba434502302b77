import { Box, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ConsoleOrganisationRow } from '@contract/console-organisations.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { ariaSort, SortButton, type Sorted, SortSelect } from '../../ui/sort-button.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { Time } from '../../ui/time.tsx'
import { BudgetBar } from './budget-bar.tsx'
import { badColor } from './colors.ts'
import { GatewayState } from './gateway-state.tsx'
import type { OrganisationsSearch } from './routes.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** The counts need a wider window. */
const wide = 'xl'

const columns = [
  { name: 'name', sort: 'name', from: undefined },
  { name: 'plan', sort: 'plan', from: undefined },
  { name: 'gateway', sort: undefined, from: undefined },
  { name: 'subscription', sort: 'subscriptionEnd', from: undefined },
  { name: 'budget', sort: 'spentPercent', from: undefined },
  { name: 'key', sort: undefined, from: undefined },
  { name: 'spaces', sort: undefined, from: wide },
  { name: 'members', sort: undefined, from: wide },
  { name: 'created', sort: 'createdAt', from: undefined },
] as const

interface OrganisationsTableProps {
  rows: ConsoleOrganisationRow[]
  search: OrganisationsSearch
  onSort: (next: OrganisationsSearch) => void
  /** Rows of the former filter, while those of the new one load. */
  isStale: boolean
}

/** A page of organisations. The server sorts, because it has all of them. */
export function OrganisationsTable({ rows, search, onSort, isStale }: OrganisationsTableProps) {
  const { t } = useTranslation('operator')
  const sort = search.sort ?? 'createdAt'
  const direction = search.direction === 'asc' ? 'asc' : 'desc'
  return (
    <div>
      <SortSelect
        columns={columns.flatMap((column) =>
          column.sort ? [{ id: column.sort, label: t(`column.${column.name}`) }] : [],
        )}
        sorted={{ id: sort, direction }}
        onSort={(id, wanted) => onSort({ sort: id, direction: wanted })}
      />
      <TableFrame label={t('list.title')} minimumWidth={900} hasCards isBusy={isStale}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <HeaderCell
                key={column.name}
                column={column}
                sorted={column.sort === sort && direction}
                onSort={onSort}
              />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <OrganisationRow key={row.id} row={row} />
          ))}
        </Table.Tbody>
      </TableFrame>
    </div>
  )
}

interface HeaderCellProps {
  column: (typeof columns)[number]
  sorted: Sorted
  onSort: (next: OrganisationsSearch) => void
}

function HeaderCell({ column: { name, sort, from }, sorted, onSort }: HeaderCellProps) {
  const { t } = useTranslation('operator')
  if (sort === undefined) return <Table.Th visibleFrom={from}>{t(`column.${name}`)}</Table.Th>
  const direction = sorted === 'desc' ? 'asc' : 'desc'
  return (
    <Table.Th aria-sort={ariaSort(sorted)}>
      <SortButton sorted={sorted} onClick={() => onSort({ sort, direction })}>
        {t(`column.${name}`)}
      </SortButton>
    </Table.Th>
  )
}

function OrganisationRow({ row }: { row: ConsoleOrganisationRow }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  return (
    <Table.Tr>
      <Table.Td maw={220}>
        <AnchorLink
          to="/operator/organisations/$organisationId"
          params={{ organisationId: row.id }}
          fw={500}
          size="sm"
          truncate
          display="block"
        >
          {row.name}
        </AnchorLink>
      </Table.Td>
      <Table.Td data-label={t('column.plan')}>{t(`plan.${row.plan}`)}</Table.Td>
      <Table.Td data-label={t('column.gateway')}>
        <GatewayState isOpen={row.gatewayOpen} />
      </Table.Td>
      <Table.Td data-label={t('column.subscription')}>
        <SubscriptionState subscription={row.subscription} />
      </Table.Td>
      <Table.Td data-label={t('column.budget')} data-wide miw={170}>
        <BudgetBar spentUsd={row.spentUsd} budgetUsd={row.monthlyBudgetUsd} percent={row.spentPercent} />
      </Table.Td>
      <Table.Td data-label={t('column.key')}>
        {row.apiKey ? (
          <Text span ff="monospace" size="xs" style={{ whiteSpace: 'nowrap' }}>
            {`${row.apiKey.prefix}…${row.apiKey.lastFour}`}
          </Text>
        ) : (
          <Text span c="dimmed" size="sm">
            {t('key.none')}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label={t('column.spaces')} visibleFrom={wide}>
        {format.number(row.spaces)}
      </Table.Td>
      <Table.Td data-label={t('column.members')} visibleFrom={wide}>
        {format.number(row.members)}
      </Table.Td>
      <Table.Td data-label={t('column.created')}>
        <Box style={{ whiteSpace: 'nowrap' }}>
          <Time value={row.createdAt} />
        </Box>
      </Table.Td>
    </Table.Tr>
  )
}

function SubscriptionState({ subscription }: { subscription: ConsoleOrganisationRow['subscription'] }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const { active, startsAt, endsAt } = subscription
  if (active)
    return (
      <Text size="sm">
        {endsAt === null ? t('subscription.noEnd') : t('subscription.until', { date: format.date(endsAt) })}
      </Text>
    )
  const isLater = new Date(startsAt).getTime() > Date.now()
  return (
    <Text size="sm" c={badColor} fw={500}>
      {isLater
        ? t('subscription.from', { date: format.date(startsAt) })
        : endsAt === null
          ? t('subscription.cancelled')
          : t('subscription.ended', { date: format.date(endsAt) })}
    </Text>
  )
}
