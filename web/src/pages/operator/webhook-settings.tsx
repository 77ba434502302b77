import { Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { Section } from '../../ui/section.tsx'
import { WebhookForm } from '../../ui/webhook-form.tsx'
import { organisationQuery } from './routes.tsx'

const webhookOf = ({ webhookUrl, version }: OrganisationBody) => ({ url: webhookUrl, version })

/** Where budget thresholds are sent. */
export function WebhookSettings({ organisation }: { organisation: OrganisationBody }) {
  const { t } = useTranslation('operator')
  const queryClient = useQueryClient()
  const { id, webhookUrl: url } = organisation
  return (
    <Section title={t('webhook.title')} description={t('webhook.text')}>
      <Stack maw={720} gap="sm">
        <WebhookForm
          path={`/api/organisations/${id}/webhook`}
          webhook={webhookOf(organisation)}
          load={async () =>
            webhookOf((await queryClient.fetchQuery({ ...organisationQuery(id), staleTime: 0 })).organisation)
          }
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
