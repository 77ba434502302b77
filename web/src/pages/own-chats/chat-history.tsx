import { ActionIcon, Button, Menu, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconChevronRight, IconDots, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OwnChatBody } from '@contract/own-chats.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { spaceRoute } from '../spaces/space-route.tsx'
import styles from './chat-history.module.css'
import { groupByDay } from './group-by-day.ts'
import { ownChatsPath, ownChatsQuery } from './own-chat-queries.ts'
import { useRemoval } from './use-removal.ts'

const RenameChat = lazyPart(() => import('./rename-chat.tsx'), 'RenameChat')

/** Time without typing until a search is sent. */
const typingMs = 250

interface HistoryProps {
  /** The conversation on the page. */
  chatId: string | undefined
  /** These conversations were deleted (null: all). */
  onRemoved: (chatId: string | null) => void
}

/** The conversations of the person with the Space by date, with a search. In a narrow window a button shows them. */
export function ChatHistory({ chatId, onRemoved }: HistoryProps) {
  const { t } = useTranslation('own-chats')
  const [isShown, panel] = useDisclosure(false)
  return (
    <nav aria-label={t('title')} className={styles['history']}>
      <Button
        variant="default"
        size="compact-sm"
        className={styles['toggle']!}
        onClick={panel.toggle}
        aria-expanded={isShown}
        leftSection={isShown ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
      >
        {t('show')}
      </Button>
      <div className={styles['panel']} data-shown={isShown}>
        <HistoryList chatId={chatId} onRemoved={onRemoved} />
      </div>
    </nav>
  )
}

function HistoryList({ chatId, onRemoved }: HistoryProps) {
  const { t } = useTranslation('own-chats')
  const { spaceId } = spaceRoute.useParams()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), typingMs)
  const [renamed, setRenamed] = useState<OwnChatBody>()
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(ownChatsQuery(spaceId, search))
  const remove = useRemoval(spaceId, onRemoved)
  const chats = data?.pages.flatMap(({ items }) => items) ?? []
  const isNone = data !== undefined && chats.length === 0
  return (
    <Stack gap="sm">
      {(chats.length > 0 || text !== '') && (
        <TextInput
          type="search"
          size="xs"
          aria-label={t('search')}
          placeholder={t('search')}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {isNone && <Dimmed role="status">{t(search === '' ? 'empty' : 'noMatch')}</Dimmed>}
      <div className={styles['list']}>
        {groupByDay(chats, new Date()).map(({ name, items }) => (
          <section key={name} aria-label={t(name)}>
            <Dimmed size="xs" fw={600} mt={6} mb={2}>
              {t(name)}
            </Dimmed>
            <ul className={styles['items']}>
              {items.map((chat) => (
                <HistoryItem
                  key={chat.id}
                  chat={chat}
                  isCurrent={chat.id === chatId}
                  onRename={() => setRenamed(chat)}
                  onRemove={() => remove.askOne(chat)}
                />
              ))}
            </ul>
          </section>
        ))}
        <SearchedTo time={data?.pages.at(-1)?.searchedTo ?? null} />
        {hasNextPage && (
          <Button variant="subtle" size="compact-xs" onClick={() => void fetchNextPage()} loading={isFetchingNextPage}>
            {t('more')}
          </Button>
        )}
      </div>
      {data && <HistoryFoot days={data.pages[0]!.days} isEmpty={isNone && search === ''} onRemoveAll={remove.askAll} />}
      {renamed && (
        <Suspense>
          <RenameChat chat={renamed} spaceId={spaceId} onClose={() => setRenamed(undefined)} />
        </Suspense>
      )}
    </Stack>
  )
}

function SearchedTo({ time }: { time: string | null }) {
  const { t } = useTranslation('own-chats')
  const format = useFormat()
  return time === null ? null : (
    <Dimmed size="xs" role="status">
      {t('searchedTo', { time: format.dateTime(time) })}
    </Dimmed>
  )
}

interface ItemProps {
  chat: OwnChatBody
  isCurrent: boolean
  onRename: () => void
  onRemove: () => void
}

function HistoryItem({ chat: { id, title }, isCurrent, onRename, onRemove }: ItemProps) {
  const { t } = useTranslation('own-chats')
  const { organisationId, spaceId } = spaceRoute.useParams()
  return (
    <li className={styles['item']} data-current={isCurrent}>
      <Link
        to="/organisations/$organisationId/spaces/$spaceId/chat"
        params={{ organisationId, spaceId }}
        search={{ conversation: id } as never}
        className={styles['link']}
        aria-current={isCurrent ? 'true' : undefined}
        title={title}
        preload={false}
      >
        {title}
      </Link>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('actionsOf', { title })}>
            <IconDots size={14} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onRename}>{t('rename')}</Menu.Item>
          <ExportItems path={`${ownChatsPath(spaceId)}/export?chatId=${id}&`} names={['markdown', 'json']} />
          <Menu.Divider />
          <Menu.Item c="var(--mantine-color-error)" onClick={onRemove}>
            {t('delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </li>
  )
}

type ExportName = 'markdown' | 'json' | 'allMarkdown' | 'allJson'

function ExportItems({ path, names: [markdown, json] }: { path: string; names: [ExportName, ExportName] }) {
  const { t } = useTranslation('own-chats')
  return (
    <>
      <Menu.Item component="a" href={`${path}format=md`} download>
        {t(markdown)}
      </Menu.Item>
      <Menu.Item component="a" href={`${path}format=json`} download>
        {t(json)}
      </Menu.Item>
    </>
  )
}

function HistoryFoot(props: { days: number; isEmpty: boolean; onRemoveAll: () => void }) {
  const { days, isEmpty, onRemoveAll } = props
  const { t } = useTranslation('own-chats')
  const { spaceId } = spaceRoute.useParams()
  return (
    <div className={styles['foot']}>
      <Dimmed size="xs">{t('kept', { count: days })}</Dimmed>
      {!isEmpty && (
        <Menu position="top-end" withInitialFocusPlaceholder={false}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('actions')}>
              <IconDots size={14} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <ExportItems path={`${ownChatsPath(spaceId)}/export?`} names={['allMarkdown', 'allJson']} />
            <Menu.Divider />
            <Menu.Item c="var(--mantine-color-error)" onClick={onRemoveAll}>
              {t('deleteAll')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  )
}
