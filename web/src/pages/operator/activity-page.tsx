import { useTranslation } from 'react-i18next'
import { AuditView } from './audit-view.tsx'
import { activityRoute } from './routes.tsx'

/** The administrative changes of one organisation, for its administrators. */
export function ActivityPage() {
  const { t } = useTranslation('operator')
  const search = activityRoute.useSearch()
  const { organisationId } = activityRoute.useParams()
  return (
    <AuditView
      title={t('activity.title')}
      description={t('activity.description')}
      search={search}
      organisationId={organisationId}
    />
  )
}
