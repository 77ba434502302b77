import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { AlertList } from './alert-list.tsx'
import { organisationAlertsQuery } from './alert-queries.ts'

/** The open budget alerts of an organisation, for its administrators. */
export function BudgetAlerts({ organisationId }: { organisationId: string }) {
  const { t } = useTranslation('alerts')
  const { data } = useQuery(organisationAlertsQuery(organisationId))
  const open = data?.items.filter(({ resolvedAt }) => resolvedAt === null) ?? []
  if (open.length === 0) return null
  return (
    <Alert color={open.some(({ severity }) => severity === 'critical') ? 'red' : 'orange'} title={t('kind.budget')}>
      <AlertList items={open} />
    </Alert>
  )
}
