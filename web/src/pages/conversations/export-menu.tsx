import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { conversationsPath, filterOf, type ConversationSearch } from './routes.tsx'

const formats = ['jsonl', 'csv'] as const

/** Downloads every turn of the chosen time and user; other filters do not count. */
export function ExportMenu(props: { spaceId: string; search: ConversationSearch; isEmpty: boolean }) {
  const { spaceId, search, isEmpty } = props
  const { t } = useTranslation('conversations')
  const { user, from, to } = search
  const chosen = { ...(user && { user }), ...(from && { from }), ...(to && { to }) }
  const addressOf = (format: string) =>
    `${conversationsPath(spaceId)}/export?${new URLSearchParams({ format, ...filterOf(chosen) })}`
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          disabled={isEmpty}
        >
          {t('export.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t(Object.keys(chosen).length > 0 ? 'export.chosen' : 'export.all')}</Menu.Label>
        {formats.map((format) => (
          <Menu.Item key={format} component="a" href={addressOf(format)} download>
            {t(`export.${format}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
