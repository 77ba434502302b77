import { useTranslation } from 'react-i18next'
import { ExportMenu } from '../../ui/export-menu.tsx'
import { conversationsPath, filterOf, type ConversationSearch } from './routes.tsx'

/** Downloads every turn of the chosen time and user; other filters do not count. */
export function ConversationsExport(props: { spaceId: string; search: ConversationSearch; isEmpty: boolean }) {
  const { spaceId, search, isEmpty } = props
  const { t } = useTranslation('conversations')
  const { user, from, to } = search
  const chosen = { ...(user && { user }), ...(from && { from }), ...(to && { to }) }
  return (
    <ExportMenu
      title={t('export.title')}
      label={t(Object.keys(chosen).length > 0 ? 'export.chosen' : 'export.all')}
      nameOf={(format) => t(`export.${format}`)}
      addressOf={(format) =>
        `${conversationsPath(spaceId)}/export?${new URLSearchParams({ format, ...filterOf(chosen) })}`
      }
      isEmpty={isEmpty}
    />
  )
}
