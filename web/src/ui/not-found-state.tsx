import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { EmptyState } from './empty-state.tsx'

export function NotFoundState() {
  const { t } = useTranslation()
  return (
    <EmptyState
      title={t('error.notFound')}
      text={t('error.notFoundText')}
      action={
        <Anchor component={Link} to="/">
          {t('error.home')}
        </Anchor>
      }
    />
  )
}
