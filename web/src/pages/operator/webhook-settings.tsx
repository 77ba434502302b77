import { Stack } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Section } from '../../ui/section.tsx'
import { WebhookForm } from '../../ui/webhook-form.tsx'

/** Where budget thresholds are sent. */
export function WebhookSettings({ organisationId, url }: { organisationId: string; url: string | null }) {
  const { t } = useTranslation('operator')
  return (
    <Section title={t('webhook.title')} description={t('webhook.text')}>
      <Stack maw={720} gap="sm">
        <WebhookForm
          path={`/api/organisations/${organisationId}/webhook`}
          url={url}
          queryKey={['operator']}
          texts={{
            url: t('webhook.url'),
            set: t('webhook.set'),
            replace: t('webhook.replace'),
            remove: t('webhook.remove'),
            removeTitle: t('webhook.removeTitle'),
            removeText: t('webhook.removeText', { url }),
            removed: t('webhook.removed'),
            secretTitle: t('webhook.secretTitle'),
            secret: t('webhook.secret'),
          }}
        />
      </Stack>
    </Section>
  )
}
