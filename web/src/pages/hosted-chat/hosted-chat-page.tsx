import { Alert, Button, Stack, Switch } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { openConfirm } from '../../ui/confirm.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { AnchorLink } from '../../ui/link.tsx'
import { notifyError } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { SaveBar } from '../../ui/save-bar.tsx'
import { useChange } from '../../ui/use-change.ts'
import { useSpace } from '../spaces/queries.ts'
import { AccessFields } from './access-fields.tsx'
import { LimitFields } from './limit-fields.tsx'
import { LiveSection } from './live-section.tsx'
import { AppearanceFields } from './appearance-fields.tsx'
import { hostedChatRoute } from './routes.tsx'
import { changeOf, draftOf, type SiteDraft } from './site-draft.ts'
import { putSite, siteQuery, todayKey, usePauseSite, type VersionedSite, withVersion } from './site-queries.ts'

/** The chat of a published Space for visitors: a separate page and a button for websites. */
export function HostedChatPage() {
  const { t } = useTranslation('hosted-chat')
  const { organisationId, spaceId } = hostedChatRoute.useParams()
  const space = useSpace(spaceId)
  const { data: view } = useSuspenseQuery(siteQuery(spaceId))
  const isLive = view.site?.enabled === true && view.published
  return (
    <Page
      title={t('title', { name: space.name })}
      description={
        <>
          {t('description')}{' '}
          <AnchorLink
            to="/organisations/$organisationId/published-spaces/$spaceId"
            params={{ organisationId, spaceId }}
            inherit
            underline="always"
          >
            {t('toPublication')}
          </AnchorLink>
        </>
      }
      actions={isLive && <PauseButton spaceId={spaceId} isPaused={view.site!.paused} />}
    >
      {!view.published && <Alert color="gray">{t('notPublished')}</Alert>}
      {isLive && view.site!.paused && (
        <Alert color="orange" title={t('pausedTitle')}>
          {t('pausedText')}
        </Alert>
      )}
      {isLive && <LiveSection spaceId={spaceId} view={view} />}
      <SettingsForm space={space} view={withVersion(view)} />
    </Page>
  )
}

function PauseButton({ spaceId, isPaused }: { spaceId: string; isPaused: boolean }) {
  const { t } = useTranslation('hosted-chat')
  const pause = usePauseSite(spaceId)
  const Icon = isPaused ? IconPlayerPlay : IconPlayerPause
  return (
    <Button
      variant={isPaused ? 'filled' : 'default'}
      leftSection={<Icon size={16} aria-hidden />}
      loading={pause.isPending}
      onClick={() => pause.mutate(isPaused ? 'resume' : 'pause', { onError: notifyError })}
    >
      {isPaused ? t('resume') : t('pause')}
    </Button>
  )
}

const fields = [
  'name',
  'password',
  'allowedOrigins',
  'title',
  'greeting',
  'suggestions',
  'filter',
  'colour',
  'logo',
  'dailyCapUsd',
  'limits.visitorPerMinute',
  'limits.addressPerMinute',
  'limits.spacePerMinute',
]

const labelKeys = {
  enabled: 'enabled',
  name: 'access.name',
  access: 'access.who',
  password: 'access.password',
  origins: 'access.origins',
  title: 'look.title',
  greeting: 'look.greeting',
  suggestions: 'look.suggestions',
  colour: 'look.colour',
  logo: 'look.logo',
  citations: 'limits.citations',
  filter: 'access.filter',
  agentic: 'limits.agentic',
  proofAlways: 'limits.proof',
  dailyCapUsd: 'limits.dailyCap',
  visitorPerMinute: 'limits.visitorPerMinute',
  addressPerMinute: 'limits.addressPerMinute',
  spacePerMinute: 'limits.spacePerMinute',
} as const satisfies Record<keyof SiteDraft, string>

function useSiteForm(space: ReturnType<typeof useSpace>, view: VersionedSite) {
  const { t } = useTranslation('hosted-chat')
  const queryClient = useQueryClient()
  return useSharedDraft({
    view,
    draftOf: (shown: VersionedSite) =>
      draftOf(shown, { title: space.name.slice(0, 80), greeting: t('defaultGreeting') }),
    load: async () => withVersion(await queryClient.fetchQuery({ ...siteQuery(space.id), staleTime: 0 })),
    isNew: view.site === null,
    send: (draft, base) => putSite(space.id, changeOf(draft), base),
    labelOf: (field) => t(labelKeys[field]),
    secrets: { password: () => undefined },
    textOf: (field, value) =>
      field === 'access' && typeof value === 'string'
        ? t(`access.${value as SiteDraft['access']}`)
        : field === 'citations'
          ? t(`limits.${value as SiteDraft['citations']}`)
          : field === 'logo' && typeof value === 'string'
            ? t('look.logo')
            : typeof value === 'object'
              ? value && JSON.stringify(value)
              : value,
  })
}

function SettingsForm({ space, view }: { space: ReturnType<typeof useSpace>; view: VersionedSite }) {
  const { id: spaceId } = space
  const { t } = useTranslation('hosted-chat')
  const form = useSiteForm(space, view)
  const { draft, set: change } = form
  const { errors, attempt } = useFieldErrors(fields)
  const save = useChange(() => form.save(), {
    stale: todayKey(spaceId),
    done: () => t('saved'),
    hasErrorPlace: true,
  })
  const store = () => void attempt(() => save.mutateAsync())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (view.site?.enabled === true && !draft.enabled)
      openConfirm({
        title: t('offTitle'),
        text: t('offText'),
        confirm: t('offConfirm'),
        onConfirm: store,
      })
    else store()
  }
  const props = { draft, onChange: change, errors }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xl">
        <Switch
          label={t('enabled')}
          description={t('enabledHint')}
          checked={draft.enabled}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
        />
        <AccessFields
          {...props}
          hasPassword={view.site?.hasPassword === true}
          requiredFilter={space.settings.requiredFilter}
        />
        <AppearanceFields {...props} spaceId={spaceId} />
        <LimitFields {...props} />
        <SaveBar
          form={form}
          isSaving={save.isPending}
          onSave={store}
          create={view.site === null ? t('create') : undefined}
        />
      </Stack>
    </form>
  )
}
