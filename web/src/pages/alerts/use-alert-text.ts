import type { AlertBody } from '@contract/alerts.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'

const ledgerProblems = ['journal-rejects', 'audit-findings', 'journal-end'] as const

/** The sentence of an alert in the language of the console. */
export function useAlertText(): (alert: AlertBody) => string {
  const { t } = useTranslation('alerts')
  const format = useFormat()
  return ({ kind, title, details }) => {
    const count = (name: string) => Number(details[name] ?? 0)
    const text = (name: string) => String(details[name] ?? '')
    const money = (name: string) => format.money(text(name))
    switch (kind) {
      case 'budget':
        return t('text.budget', {
          organisation: text('organisation'),
          percent: format.percent(count('percent') / 100),
          spent: money('spentUsd'),
          budget: money('budgetUsd'),
        })
      case 'velocity':
        return t('text.velocity', {
          organisation: text('organisation'),
          spent: money('spentUsd'),
          usual: money('usualUsd'),
        })
      case 'provider':
        return t('text.provider', {
          provider: text('provider'),
          count: count('deployments'),
          reason: text('reason'),
        })
      case 'model':
        return t('text.model', { model: text('model'), reason: text('reason') })
      case 'disk':
        return t('text.disk', {
          folder: text('folder'),
          host: text('host'),
          free: format.percent(count('freePercent') / 100),
        })
      case 'certificate': {
        const values = { host: text('host'), day: format.day(text('day')) }
        return details['state'] === 'ended' ? t('text.certificateEnded', values) : t('text.certificateEnds', values)
      }
      case 'ledger': {
        const problem = ledgerProblems.find((one) => one === details['problem'])
        return problem ? t(`text.ledger.${problem}`, { count: count('count'), folder: text('folder') }) : title
      }
      case 'jobs':
        return details['state'] === 'given-up'
          ? t('text.jobsGivenUp', { job: text('job'), count: count('attempts') })
          : t('text.jobsRetried', { job: text('job'), count: count('attempts') })
    }
  }
}
