import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, patchJson } from '../../api/client.ts'
import { useRights } from '../../app/session.ts'
import { ifMatch, useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { openConfirm } from '../../ui/confirm.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { DeleteSpace } from './delete-space.tsx'
import { LeaveGuard } from './leave-dialog.tsx'
import { spaceListsKey, spaceModelsQuery, spaceQuery, useSpace } from './queries.ts'
import { settingsRoute } from './routes.tsx'
import { AnswerFields, FilterFields, GeneralFields, labelKeys, PrivacyFields } from './settings-fields.tsx'
import { changesOf, draftOf } from './space-draft.ts'

/** Name, instructions, model and retrieval settings of a Space. */
export function SettingsPage() {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = settingsRoute.useParams()
  const space = useSpace(spaceId)
  const { isAdministrator } = useRights(organisationId)
  const { data: models } = useSuspenseQuery(spaceModelsQuery(organisationId))
  const queryClient = useQueryClient()
  const form = useSharedDraft({
    view: space,
    draftOf,
    load: () => queryClient.fetchQuery({ ...spaceQuery(spaceId), staleTime: 0 }),
    send: (wanted, base) => {
      const changes = changesOf(wanted, base)
      return changes && patchJson(`/api/spaces/${spaceId}`, changes, ifMatch(base))
    },
    labelOf: (field) => t(labelKeys[field]),
  })
  const { draft, isDirty } = form
  const save = useSave(form.save)
  const change = (fields: Partial<typeof draft>) => {
    save.reset()
    form.set(fields)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isDirty) return
    const submitChanges = () => save.mutate()
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
          <SaveBar isDirty={isDirty} isSaving={save.isPending} onDiscard={form.discard} />
        </Stack>
      </form>
      <DeleteSpace organisationId={organisationId} space={space} />
      <LeaveGuard isDirty={isDirty && !save.isPending} />
      {form.dialog(save.mutate)}
    </Page>
  )
}

function useSave(save: () => Promise<boolean>) {
  const { t } = useTranslation('spaces')
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => save(),
    onSuccess: async (isSaved) => {
      if (!isSaved) return
      await queryClient.invalidateQueries({ queryKey: spaceListsKey })
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
