import { Stack } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, patchJson } from '../../api/client.ts'
import { useRights } from '../../app/session.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { openConfirm } from '../../ui/confirm.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { SaveBar } from '../../ui/save-bar.tsx'
import { DeleteSpace } from './delete-space.tsx'
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
          <SaveBar form={form} isSaving={save.isPending} onSave={save.mutate} />
        </Stack>
      </form>
      <DeleteSpace organisationId={organisationId} space={space} />
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
