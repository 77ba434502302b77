import { useTranslation } from 'react-i18next'
import { EmptyState } from './empty-state.tsx'
import { AnchorLink } from './link.tsx'

export function NotFoundState() {
  const { t } = useTranslation()
  return (
    <EmptyState
      drawing="search"
      title={t('error.notFound')}
      text={t('error.notFoundText')}
      action={<AnchorLink to="/">{t('error.home')}</AnchorLink>}
    />
  )
}
