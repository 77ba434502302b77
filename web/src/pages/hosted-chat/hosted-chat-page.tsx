import { Alert, Button, Group, Paper, Stack, Switch, Text } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SiteViewBody } from '@contract/sites.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { AnchorLink } from '../../ui/link.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { LeaveGuard } from '../spaces/leave-dialog.tsx'
import { useSpace } from '../spaces/queries.ts'
import { AccessFields } from './access-fields.tsx'
import { LimitFields } from './limit-fields.tsx'
import { LiveSection } from './live-section.tsx'
import { AppearanceFields } from './appearance-fields.tsx'
import { hostedChatRoute } from './routes.tsx'
import { changeOf, draftOf, type SiteDraft } from './site-draft.ts'
import { siteQuery, usePauseSite, useSaveSite } from './site-queries.ts'

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
      <SettingsForm key={view.site?.generation ?? 0} space={space} view={view} />
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

/** The form begins again with each generation of the settings. */
function SettingsForm({ space, view }: { space: ReturnType<typeof useSpace>; view: SiteViewBody }) {
  const { id: spaceId, name: spaceName } = space
  const { t } = useTranslation('hosted-chat')
  const [first] = useState(() => draftOf(view, { title: spaceName.slice(0, 80), greeting: t('defaultGreeting') }))
  const [draft, setDraft] = useState(first)
  const { errors, attempt } = useFieldErrors(fields)
  const save = useSaveSite(spaceId)
  const isNew = view.site === null
  const isChanged = JSON.stringify(draft) !== JSON.stringify(first)
  const change = (update: Partial<SiteDraft>) => setDraft((current) => ({ ...current, ...update }))
  const store = async () => {
    const isSaved = await attempt(() =>
      save.mutateAsync({ change: changeOf(draft), generation: view.site?.generation ?? 0 }),
    )
    if (isSaved) notifySuccess(t('saved'))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (view.site?.enabled === true && !draft.enabled)
      openConfirm({
        title: t('offTitle'),
        text: t('offText'),
        confirm: t('offConfirm'),
        onConfirm: () => void store(),
      })
    else void store()
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
        <Paper pos={isChanged ? 'sticky' : undefined} bottom={0} py="sm" style={{ zIndex: 2 }}>
          <Group gap="sm">
            <Button type="submit" loading={save.isPending} disabled={!isNew && !isChanged}>
              {isNew ? t('create') : t('save')}
            </Button>
            {isChanged && !save.isPending && !isNew && (
              <>
                <Button variant="default" onClick={() => setDraft(first)}>
                  {t('discard')}
                </Button>
                <Text size="sm" c="dimmed" role="status">
                  {t('unsaved')}
                </Text>
              </>
            )}
          </Group>
        </Paper>
      </Stack>
      <LeaveGuard isDirty={isChanged && !save.isPending} />
    </form>
  )
}
