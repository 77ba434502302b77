import { Navigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../ui/empty-state.tsx'
import { rememberedOrganisation } from './remembered-organisation.ts'
import { useSession } from './session.ts'

/** `/console` leads to the page that a person uses most. */
export function HomeRedirect() {
  const { t } = useTranslation()
  const { organisations, isOperator } = useSession()
  const remembered = rememberedOrganisation()
  if (isOperator) return <Navigate to="/operator" replace />
  const organisation = organisations.find(({ id }) => id === remembered) ?? organisations[0]
  if (organisation) {
    const page = organisation.role === 'administrator' ? 'developer-tools' : 'spaces'
    return <Navigate to={`/organisations/${organisation.id}/${page}` as '/'} replace />
  }
  return <EmptyState title={t('home.noOrganisation')} text={t('home.noOrganisationText')} />
}
