import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ConversationPageBody, EraseConversationsBody } from '@contract/conversations.ts'
import { postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { useChange } from '../../ui/use-change.ts'
import { conversationsKey, conversationsPath, filterOf, type ConversationSearch } from './routes.tsx'

interface EraseMenuProps {
  spaceId: string
  search: ConversationSearch
  stored: ConversationPageBody['stored']
}

/** Erases what the user or the time of the filter selects, or everything. */
export function EraseMenu({ spaceId, search, stored }: EraseMenuProps) {
  const { t } = useTranslation('conversations')
  const format = useFormat()
  const erase = useChange(
    (body: EraseConversationsBody) => postJson<{ turns: number }>(`${conversationsPath(spaceId)}/erase`, body),
    { stale: conversationsKey(spaceId), done: ({ turns }) => t('erase.done', { count: turns }) },
  )
  const { user, from, to } = search
  const ask = (text: string, body: EraseConversationsBody) =>
    openConfirm({ title: t('erase.question'), text, confirm: t('erase.confirm'), onConfirm: () => erase.mutate(body) })
  const time = filterOf({ ...(from && { from }), ...(to && { to }) })
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconTrash size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          loading={erase.isPending}
          disabled={stored.turns === 0}
        >
          {t('erase.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={user === undefined} onClick={() => user && ask(t('erase.userText', { user }), { user })}>
          {user === undefined ? t('erase.chooseUser') : t('erase.user', { user })}
        </Menu.Item>
        <Menu.Item disabled={(from ?? to) === undefined} onClick={() => ask(t('erase.timeText'), time)}>
          {t((from ?? to) === undefined ? 'erase.chooseTime' : 'erase.time')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          c="var(--mantine-color-error)"
          onClick={() =>
            ask(t('erase.allText', { count: stored.turns, shown: format.number(stored.turns) }), { all: true })
          }
        >
          {t('erase.all')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
