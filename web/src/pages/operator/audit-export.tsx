import { useTranslation } from 'react-i18next'
import { ExportMenu } from '../../ui/export-menu.tsx'
import { auditPath, type AuditSearch } from './routes.tsx'

interface AuditExportProps {
  search: AuditSearch
  organisationId: string | undefined
  isEmpty: boolean
}

/** Downloads every entry that matches the filters. */
export function AuditExport({ search, organisationId, isEmpty }: AuditExportProps) {
  const { t } = useTranslation('operator')
  const [path = '', query = ''] = auditPath(search, organisationId).split('?')
  return (
    <ExportMenu
      title={t('audit.export')}
      label={t('audit.exportLabel')}
      nameOf={(format) => t(`audit.exportFormats.${format}`)}
      addressOf={(format) => `${path}/export?format=${format}${query && `&${query}`}`}
      isEmpty={isEmpty}
    />
  )
}
