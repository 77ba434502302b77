import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, patchJson } from '../../api/client.ts'
import { useRights } from '../../app/session.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { DeleteSpace } from './delete-space.tsx'
import { LeaveGuard } from './leave-dialog.tsx'
import { spaceListsKey, spaceModelsQuery, spaceQuery, useSpace } from './queries.ts'
import { settingsRoute } from './routes.tsx'
import { AnswerFields, FilterFields, GeneralFields, PrivacyFields } from './settings-fields.tsx'
import { changesOf, draftOf, type SpaceDraft } from './space-draft.ts'

/** Name, instructions, model and retrieval settings of a Space. */
export function SettingsPage() {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = settingsRoute.useParams()
  const space = useSpace(spaceId)
  const { isAdministrator } = useRights(organisationId)
  const { data: models } = useSuspenseQuery(spaceModelsQuery(organisationId))
  const [draft, setDraft] = useState(() => draftOf(space))
  // Another person's change replaces the form only where nothing was typed.
  const [base, setBase] = useState(space)
  useEffect(() => {
    if (space === base) return
    if (changesOf(draft, base) === undefined) setDraft(draftOf(space))
    setBase(space)
  }, [space, base, draft])
  const changes = changesOf(draft, space)
  const save = useSave(spaceId)
  const change = (fields: Partial<SpaceDraft>) => {
    save.reset()
    setDraft((current) => ({ ...current, ...fields }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!changes) return
    const submitChanges = () => save.mutate(changes)
    if (space.settings.keepConversations && !draft.keepConversations)
      openConfirm({
        title: t('settings.forgetTitle'),
        text: t('settings.forgetText'),
        confirm: t('settings.forgetConfirm'),
        onConfirm: submitChanges,
      })
    else submitChanges()
  }
  const errorOf = (field: string) =>
    save.error instanceof ApiError && save.error.param === field ? save.error.message : undefined
  return (
    <Page title={t('settings.title')} description={t('settings.description')}>
      <form onSubmit={submit}>
        <Stack gap="xl" maw={820}>
          <GeneralFields draft={draft} onChange={change} models={models.models} errorOf={errorOf} />
          <AnswerFields draft={draft} onChange={change} fallbackModel={space.fallbackModel} errorOf={errorOf} />
          <FilterFields draft={draft} onChange={change} errorOf={errorOf} isAdministrator={isAdministrator} />
          <PrivacyFields draft={draft} onChange={change} errorOf={errorOf} isAdministrator={isAdministrator} />
          <SaveBar
            isDirty={changes !== undefined}
            isSaving={save.isPending}
            onDiscard={() => setDraft(draftOf(space))}
          />
        </Stack>
      </form>
      <DeleteSpace organisationId={organisationId} space={space} />
      <LeaveGuard isDirty={changes !== undefined && !save.isPending} />
    </Page>
  )
}

function useSave(spaceId: string) {
  const { t } = useTranslation('spaces')
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (changes: Record<string, unknown>) => patchJson(`/api/spaces/${spaceId}`, changes),
    onSuccess: async () => {
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: spaceQuery(spaceId).queryKey }),
        queryClient.invalidateQueries({ queryKey: spaceListsKey }),
      ])
      notifySuccess(t('settings.saved'))
    },
    onError: (error) => {
      if (!(error instanceof ApiError && error.param !== undefined)) notifyError(error)
    },
  })
}

/** Stays at the lower edge of the window while there is something to save. */
function SaveBar(props: { isDirty: boolean; isSaving: boolean; onDiscard: () => void }) {
  const { isDirty, isSaving, onDiscard } = props
  const { t } = useTranslation('spaces')
  return (
    <Paper pos={isDirty ? 'sticky' : undefined} bottom={0} py="sm" style={{ zIndex: 2 }}>
      <Group gap="sm">
        <Button type="submit" loading={isSaving} disabled={!isDirty}>
          {t('settings.save')}
        </Button>
        {isDirty && !isSaving && (
          <>
            <Button variant="default" onClick={onDiscard}>
              {t('settings.discard')}
            </Button>
            <Text size="sm" c="dimmed" role="status">
              {t('settings.unsaved')}
            </Text>
          </>
        )}
      </Group>
    </Paper>
  )
}
