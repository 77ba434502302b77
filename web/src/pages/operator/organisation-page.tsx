import { Divider, Group, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { AuditEntries } from './audit-entries.tsx'
import { DeleteOrganisation } from './delete-organisation.tsx'
import { OrganisationOverview } from './organisation-overview.tsx'
import { OrganisationSettings } from './organisation-settings.tsx'
import { organisationPageRoute, organisationQuery } from './routes.tsx'
import { WebhookSettings } from './webhook-settings.tsx'
import { AnchorLink, ButtonLink } from '../../ui/link.tsx'

export function OrganisationPage() {
  const { t } = useTranslation('operator')
  const { organisationId } = organisationPageRoute.useParams()
  const { data } = useSuspenseQuery(organisationQuery(organisationId))
  const { organisation } = data
  return (
    <Page
      title={organisation.name}
      description={
        <Group component="span" gap={4} wrap="nowrap">
          <Text span ff="monospace" size="xs" truncate>
            {organisation.id}
          </Text>
          <CopyButton value={organisation.id} label={t('one.copyId')} />
        </Group>
      }
      actions={
        <ButtonLink
          to="/organisations/$organisationId/developer-tools"
          params={{ organisationId: organisation.id }}
          variant="default"
        >
          {t('one.openTeam')}
        </ButtonLink>
      }
    >
      <OrganisationOverview data={data} />
      <Divider />
      <Stack gap={40}>
        <OrganisationSettings organisation={organisation} models={data.models} />
        <WebhookSettings organisation={organisation} />
        <Section
          title={t('one.changes')}
          actions={
            <AnchorLink to="/operator/audit" search={{ organisationId: organisation.id } as never} size="sm">
              {t('one.allChanges')}
            </AnchorLink>
          }
        >
          <AuditEntries entries={data.changes} hideOrganisation />
        </Section>
        <DeleteOrganisation organisation={organisation} spaces={data.spaces} />
      </Stack>
    </Page>
  )
}
