import { Anchor, Box, Group, Table, Text, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { ConsoleOrganisationRow } from '@contract/console-organisations.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Time } from '../../ui/time.tsx'
import { BudgetBar } from './budget-bar.tsx'
import { badColor } from './colors.ts'
import { GatewayState } from './gateway-state.tsx'
import type { OrganisationsSearch } from './routes.tsx'

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
  const label = t('list.title')
  return (
    <Table.ScrollContainer
      minWidth={900}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': label, role: 'region' } }}
    >
      <Table aria-label={label} aria-busy={isStale} verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, sort, from }) => (
              <HeaderCell key={name} from={from} sort={sort} search={search} onSort={onSort}>
                {t(`column.${name}`)}
              </HeaderCell>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <OrganisationRow key={row.id} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

interface HeaderCellProps {
  /** The width from which the column is visible. */
  from: 'xl' | undefined
  sort: string | undefined
  search: OrganisationsSearch
  onSort: (next: OrganisationsSearch) => void
  children: ReactNode
}

function HeaderCell({ from, sort, search, onSort, children }: HeaderCellProps) {
  if (sort === undefined) return <Table.Th visibleFrom={from}>{children}</Table.Th>
  const isSorted = (search.sort ?? 'createdAt') === sort
  const direction = search.direction ?? 'desc'
  const next = isSorted && direction === 'desc' ? 'asc' : 'desc'
  const Icon = direction === 'asc' ? IconArrowUp : IconArrowDown
  const ascending = direction === 'asc' ? ('ascending' as const) : ('descending' as const)
  return (
    <Table.Th aria-sort={isSorted ? ascending : undefined}>
      <UnstyledButton onClick={() => onSort({ sort, direction: next })}>
        <Group gap={4} wrap="nowrap">
          <Text span fw={600} size="sm">
            {children}
          </Text>
          <Icon size={14} aria-hidden opacity={isSorted ? 1 : 0} />
        </Group>
      </UnstyledButton>
    </Table.Th>
  )
}

function OrganisationRow({ row }: { row: ConsoleOrganisationRow }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  return (
    <Table.Tr>
      <Table.Td maw={220}>
        <Anchor
          component={Link}
          to={`/operator/organisations/${row.id}` as '/'}
          fw={500}
          size="sm"
          truncate
          display="block"
        >
          {row.name}
        </Anchor>
      </Table.Td>
      <Table.Td>{t(`plan.${row.plan}`)}</Table.Td>
      <Table.Td>
        <GatewayState isOpen={row.gatewayOpen} />
      </Table.Td>
      <Table.Td>
        <SubscriptionState subscription={row.subscription} />
      </Table.Td>
      <Table.Td miw={170}>
        <BudgetBar spentUsd={row.spentUsd} budgetUsd={row.monthlyBudgetUsd} percent={row.spentPercent} />
      </Table.Td>
      <Table.Td>
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
      <Table.Td visibleFrom={wide}>{format.number(row.spaces)}</Table.Td>
      <Table.Td visibleFrom={wide}>{format.number(row.members)}</Table.Td>
      <Table.Td>
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
