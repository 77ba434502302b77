import { useTranslation } from 'react-i18next'
import { AuditView } from './audit-view.tsx'
import { auditRoute } from './routes.tsx'

/** Every administrative change of the installation. */
export function AuditPage() {
  const { t } = useTranslation('operator')
  const search = auditRoute.useSearch()
  return <AuditView title={t('audit.title')} description={t('audit.description')} search={search} />
}
