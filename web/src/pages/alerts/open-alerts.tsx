import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Section } from '../../ui/section.tsx'
import { AlertList } from './alert-list.tsx'
import { openAlertsQuery } from './alert-queries.ts'

const shownAlerts = 5

/** The newest open alerts, for the home page of operators; the rest of the page does not wait for them. */
export function OpenAlerts() {
  const { t } = useTranslation('alerts')
  const { data } = useQuery(openAlertsQuery)
  return (
    <Section
      title={t('title')}
      actions={
        <AnchorLink to="/operator/alerts" size="sm">
          {data && data.open > shownAlerts ? t('all', { count: data.open }) : t('toAlerts')}
        </AnchorLink>
      }
    >
      {data?.items.length === 0 ? (
        <Dimmed mih={24}>{t('empty.open')}</Dimmed>
      ) : (
        <AlertList items={data?.items.slice(0, shownAlerts) ?? []} linked />
      )}
    </Section>
  )
}
