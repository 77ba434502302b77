import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconExternalLink, IconInfoCircle, IconWorldOff, IconWorldUpload } from '@tabler/icons-react'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { PublicationView } from '@contract/console-spaces.ts'
import { ApiError, postJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { publicationQuery, spaceListsKey, spaceQuery } from './queries.ts'
import { RequestSection } from './request-section.tsx'
import { publicationRoute } from './routes.tsx'
import { StateBadge } from './space-fields.tsx'
import { AnchorLink } from '../../ui/link.tsx'

const GateDialog = lazyPart(() => import('./gate-dialog.tsx'), 'GateDialog')

/** The endpoint of one Space: publish or unpublish it, and what its callers need. */
export function PublicationPage() {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = publicationRoute.useParams()
  const { data } = useSuspenseQuery(publicationQuery(spaceId))
  const { space, endpointUrl } = data
  const isLive = space.published && endpointUrl !== null
  return (
    <Page
      title={space.name}
      description={<PageLinks organisationId={organisationId} space={space} />}
      actions={<PublishButton organisationId={organisationId} publication={data} />}
    >
      <Warnings organisationId={organisationId} publication={data} />
      {isLive ? (
        <Stack gap="xl" maw={1000}>
          <HostedChatSection organisationId={organisationId} spaceId={spaceId} />
          <EndpointSection organisationId={organisationId} publication={data} endpointUrl={endpointUrl} />
          <RequestSection endpointUrl={endpointUrl} />
        </Stack>
      ) : (
        <EmptyState
          title={t('publication.notPublished')}
          text={space.endpointId === null ? t('publication.firstTime') : t('publication.again')}
        />
      )}
    </Page>
  )
}

function PageLinks({ organisationId, space }: { organisationId: string; space: PublicationView['space'] }) {
  const { t } = useTranslation('spaces')
  return (
    <>
      <StateBadge published={space.published} />{' '}
      <AnchorLink
        to="/organisations/$organisationId/spaces/$spaceId/chat"
        params={{ organisationId, spaceId: space.id }}
        size="sm"
        ml="xs"
      >
        {t('publication.toChat')} <IconExternalLink size={12} aria-hidden />
      </AnchorLink>
    </>
  )
}

function PublishButton({ organisationId, publication }: { organisationId: string; publication: PublicationView }) {
  const { t } = useTranslation('spaces')
  const { space } = publication
  const change = usePublish(space.id)
  const problem = gateProblem(change.error)
  if (!space.published) {
    return (
      <>
        <Button
          leftSection={<IconWorldUpload size={16} aria-hidden />}
          loading={change.isPending}
          onClick={() => change.mutate({ action: 'publish' })}
        >
          {t('publication.publish')}
        </Button>
        <OnceOpened opened={problem !== undefined}>
          <GateDialog
            organisationId={organisationId}
            spaceId={space.id}
            problem={problem}
            isPublishing={change.isPending}
            onPublish={(overrideReason) => change.mutate({ action: 'publish', overrideReason })}
            onClose={change.reset}
          />
        </OnceOpened>
      </>
    )
  }
  const ask = () =>
    openConfirm({
      title: t('publication.unpublishTitle', { name: space.name }),
      text: t('publication.unpublishText'),
      confirm: t('publication.unpublish'),
      onConfirm: () => change.mutate({ action: 'unpublish' }),
    })
  return (
    <Button
      variant="default"
      c="var(--mantine-color-error)"
      leftSection={<IconWorldOff size={16} aria-hidden />}
      loading={change.isPending}
      onClick={ask}
    >
      {t('publication.unpublish')}
    </Button>
  )
}

function usePublish(spaceId: string) {
  const { t } = useTranslation('spaces')
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ action, overrideReason }: { action: 'publish' | 'unpublish'; overrideReason?: string }) => {
      const query = overrideReason === undefined ? '' : `?${new URLSearchParams({ overrideReason })}`
      return postJson(`/api/spaces/${spaceId}/${action}${query}`)
    },
    onSuccess: async (_space, { action }) => {
      await Promise.all(
        [publicationQuery(spaceId).queryKey, spaceQuery(spaceId).queryKey, spaceListsKey].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      )
      notifySuccess(action === 'publish' ? t('publication.published') : t('publication.unpublished'))
    },
    onError: (error) => {
      if (gateProblem(error) === undefined) notifyError(error)
    },
  })
}

/** What the gate of golden questions reports about a Space that it keeps from being published. */
function gateProblem(error: Error | null): string | undefined {
  return error instanceof ApiError && error.code === 'golden_questions_not_passed' ? error.message : undefined
}

/** What keeps callers from getting a useful answer. */
function Warnings({ organisationId, publication }: { organisationId: string; publication: PublicationView }) {
  const { t } = useTranslation('spaces')
  const { space, modelAvailable, documents } = publication
  const base = `/organisations/${organisationId}/spaces/${space.id}`
  return (
    <>
      {!modelAvailable && (
        <Alert color="red" title={t('model.unavailable')}>
          {t('publication.modelText', { model: space.model })}{' '}
          <AnchorLink to={`${base}/settings` as '/'} inherit underline="always">
            {t('layout.settings')}
          </AnchorLink>
        </Alert>
      )}
      {documents.ready === 0 && (
        <Alert color="gray" icon={<IconInfoCircle size={18} aria-hidden />} title={t('publication.noDocuments')}>
          {t('publication.noDocumentsText')}{' '}
          <AnchorLink to={`${base}/files` as '/'} inherit underline="always">
            {t('layout.files')}
          </AnchorLink>
        </Alert>
      )}
    </>
  )
}

/** The way to the chat for visitors. */
function HostedChatSection({ organisationId, spaceId }: { organisationId: string; spaceId: string }) {
  const { t } = useTranslation('spaces')
  return (
    <Section title={t('hostedChat.title')} description={t('hostedChat.text')}>
      <AnchorLink
        to="/organisations/$organisationId/published-spaces/$spaceId/hosted-chat"
        params={{ organisationId, spaceId }}
        fw={500}
      >
        {t('hostedChat.settings')}
      </AnchorLink>
    </Section>
  )
}

function EndpointSection(props: { organisationId: string; publication: PublicationView; endpointUrl: string }) {
  const { organisationId, publication, endpointUrl } = props
  const { t } = useTranslation('spaces')
  const { space, apiKey } = publication
  const toDeveloperTools = (
    <AnchorLink
      to="/organisations/$organisationId/developer-tools"
      params={{ organisationId }}
      inherit
      underline="always"
    >
      {t('publication.developerTools')}
    </AnchorLink>
  )
  return (
    <Section title={t('publication.endpoint')} description={t('publication.endpointText')}>
      <SimpleGrid cols={{ base: 1, xl: 2 }}>
        <CopyField label={t('field.endpointId')} value={space.endpointId ?? ''} />
        <CopyField label={t('publication.url')} value={endpointUrl} />
      </SimpleGrid>
      {apiKey ? (
        <Text size="sm">
          {t('publication.key', { shown: `${apiKey.prefix}…${apiKey.lastFour}` })} {toDeveloperTools}
        </Text>
      ) : (
        <Alert color="gray" icon={<IconInfoCircle size={18} aria-hidden />} title={t('publication.noKey')}>
          {t('publication.noKeyText')} {toDeveloperTools}
        </Alert>
      )}
    </Section>
  )
}
