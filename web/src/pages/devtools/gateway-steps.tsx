import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import { useTranslation } from 'react-i18next'
import { Checklist } from '../../ui/checklist.tsx'

/** From the opt-in to the first call with the key; each step is done on this page. */
export function GatewaySteps({ view: { missing, apiKey } }: { view: DeveloperToolsView }) {
  const { t } = useTranslation('devtools')
  return (
    <Checklist
      id="gateway"
      title={t('steps.title')}
      texts={{ done: t('steps.done'), open: t('steps.notDone'), dismiss: t('steps.dismiss') }}
      steps={[
        { label: t('steps.optIn'), isDone: !missing.includes('opt_in') },
        { label: t('steps.key'), isDone: !missing.includes('api_key') },
        { label: t('steps.call'), isDone: typeof apiKey?.lastUsedAt === 'string' },
      ]}
    />
  )
}
