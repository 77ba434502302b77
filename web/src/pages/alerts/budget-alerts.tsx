import { Alert } from '@mantine/core'
import type { AlertBody } from '@contract/alerts.ts'
import { useTranslation } from 'react-i18next'
import { AlertList } from './alert-list.tsx'

/** The open budget alerts of an organisation, for its administrators. */
export function BudgetAlerts({ items }: { items: readonly AlertBody[] }) {
  const { t } = useTranslation('alerts')
  return (
    <Alert color={items.some(({ severity }) => severity === 'critical') ? 'red' : 'orange'} title={t('kind.budget')}>
      <AlertList items={items} />
    </Alert>
  )
}
