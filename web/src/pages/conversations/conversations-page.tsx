import { Button, Center, Group, Stack, Text } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ConversationBody, ConversationPageBody } from '@contract/conversations.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, DataTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { AnchorLink, ButtonLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { ConversationFilters } from './conversation-filters.tsx'
import { EraseMenu } from './erase-menu.tsx'
import { ConversationsExport } from './conversations-export.tsx'
import { OutcomeBadge } from './outcome-badge.tsx'
import { conversationsQuery, conversationsRoute, type ConversationSearch } from './routes.tsx'

/** What the published chat of a Space was asked and answered, where the Space keeps it. */
export function ConversationsPage() {
  const { t } = useTranslation('conversations')
  const { organisationId, spaceId } = conversationsRoute.useParams()
  const search = conversationsRoute.useSearch()
  const navigate = useNavigate()
  const query = useSuspenseInfiniteQuery(conversationsQuery(spaceId, search))
  const { pages } = query.data
  const first = pages[0]!
  if (!first.keeps) {
    return (
      <Page title={t('title')}>
        <EmptyState
          title={t('off.title')}
          text={t('off.text')}
          action={
            <ButtonLink
              to="/organisations/$organisationId/spaces/$spaceId/settings"
              params={{ organisationId, spaceId }}
              variant="default"
            >
              {t('off.action')}
            </ButtonLink>
          }
        />
      </Page>
    )
  }
  const change = (next: ConversationSearch) => void navigate({ to: '.', search: next as never, replace: true })
  const items = pages.flatMap((page) => page.items)
  const isFiltered = Object.keys(search).length > 0
  return (
    <Page
      title={t('title')}
      description={t('description', { count: first.days })}
      actions={
        <>
          <ConversationsExport spaceId={spaceId} search={search} isEmpty={first.stored.turns === 0} />
          <EraseMenu spaceId={spaceId} search={search} stored={first.stored} />
        </>
      }
    >
      <ConversationFilters
        search={search}
        onChange={(next) => change({ ...search, ...next })}
        onClear={isFiltered ? () => change({}) : undefined}
      />
      <StoredSum stored={first.stored} />
      <ConversationTable
        items={items}
        empty={
          <EmptyState title={t(isFiltered ? 'noMatch' : 'empty')} text={t(isFiltered ? 'noMatchText' : 'emptyText')} />
        }
      />
      <More page={pages.at(-1)!} isLoading={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </Page>
  )
}

function StoredSum({ stored: { conversations, turns, bytes } }: { stored: ConversationPageBody['stored'] }) {
  const { t } = useTranslation('conversations')
  const format = useFormat()
  if (turns === 0) return null
  return (
    <Dimmed>
      {[
        t('stored.conversations', { count: conversations, shown: format.number(conversations) }),
        t('stored.turns', { count: turns, shown: format.number(turns) }),
        format.bytes(bytes),
      ].join(' · ')}
    </Dimmed>
  )
}

/** A search reads texts for a limited time per page: it states how far it came. */
function More(props: { page: ConversationPageBody; isLoading: boolean; onMore: () => void }) {
  const { page, isLoading, onMore } = props
  const { t } = useTranslation('conversations')
  const format = useFormat()
  if (page.nextCursor === null) return null
  return (
    <Center>
      <Stack align="center" gap="xs">
        {page.searchedTo !== null && (
          <Dimmed role="status">{t('searchedTo', { time: format.dateTime(page.searchedTo) })}</Dimmed>
        )}
        <Button variant="default" onClick={onMore} loading={isLoading}>
          {t(page.searchedTo === null ? 'more' : 'searchOn')}
        </Button>
      </Stack>
    </Center>
  )
}

function ConversationTable({ items, empty }: { items: ConversationBody[]; empty: React.ReactNode }) {
  const { t } = useTranslation('conversations')
  const format = useFormat()
  const { organisationId, spaceId } = conversationsRoute.useParams()
  const columns = useMemo(
    () => [
      column('opening', t('column.opening'), ({ id, opening }: ConversationBody) => (
        <AnchorLink
          to="/organisations/$organisationId/spaces/$spaceId/conversations/$conversationId"
          params={{ organisationId, spaceId, conversationId: id }}
          size="sm"
          fw={500}
          lineClamp={2}
          style={{ overflowWrap: 'anywhere' }}
        >
          {opening.trim() === '' ? t('blank') : opening}
        </AnchorLink>
      )),
      column('state', t('column.state'), ({ failed, unanswered, disliked }: ConversationBody) => (
        <Group gap={4}>
          {failed > 0 && <OutcomeBadge color="red" text={t('failed', { count: failed })} />}
          {unanswered > 0 && <OutcomeBadge color="yellow" text={t('unanswered', { count: unanswered })} />}
          {disliked > 0 && <OutcomeBadge color="red" text={t('disliked', { count: disliked })} />}
          {failed + unanswered + disliked === 0 && '–'}
        </Group>
      )),
      column('turns', t('column.turns'), ({ turns }: ConversationBody) => format.number(turns)),
      column('user', t('column.user'), ({ user }: ConversationBody) => (
        <Text size="sm" truncate maw={200}>
          {user ?? '–'}
        </Text>
      )),
      column('cost', t('column.cost'), ({ billedUsd }: ConversationBody) => format.money(billedUsd)),
      column('lastAt', t('column.lastAt'), ({ lastAt }: ConversationBody) => <Time value={lastAt} />),
    ],
    [t, format, organisationId, spaceId],
  )
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      rows={items}
      rowId={({ id }) => id}
      empty={empty}
      minimumWidth={760}
    />
  )
}
