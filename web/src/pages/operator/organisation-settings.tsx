import { Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { patchJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { SaveBar } from '../../ui/save-bar.tsx'
import { organisationQuery } from './routes.tsx'
import { BudgetFields, GeneralFields, LimitFields, ModelFields, SubscriptionFields } from './settings-fields.tsx'
import { changesOf, draftOf, fieldNames } from './settings-draft.ts'

/** All settings of an organisation that an operator may change. One request saves what differs. */
export function OrganisationSettings({ organisation, models }: { organisation: OrganisationBody; models: string[] }) {
  const { t } = useTranslation('operator')
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(fieldNames)
  const form = useSharedDraft({
    view: organisation,
    draftOf,
    load: async () =>
      (await queryClient.fetchQuery({ ...organisationQuery(organisation.id), staleTime: 0 })).organisation,
    send: (wanted, base) => {
      const changes = changesOf(draftOf(base), wanted)
      return changes ? patchJson(`/api/organisations/${organisation.id}`, changes, ifMatch(base)) : undefined
    },
    labelOf: (field) => t(`fields.${field}`),
  })
  const { draft, isDirty } = form
  const save = useMutation({
    mutationFn: () => form.save(),
    async onSuccess(isSaved) {
      if (!isSaved) return
      await queryClient.invalidateQueries({ queryKey: ['operator'] })
      void queryClient.invalidateQueries({ queryKey: ['audit'] })
      notifySuccess(t('settings.saved'))
    },
  })
  const submitChanges = () => void attempt(() => save.mutateAsync())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isDirty) submitChanges()
  }
  const fields = { draft, set: form.set, errors }
  return (
    <form onSubmit={submit} noValidate aria-label={t('settings.title')}>
      <Stack gap={40}>
        <GeneralFields {...fields} />
        <SubscriptionFields {...fields} />
        <BudgetFields {...fields} />
        <LimitFields {...fields} />
        <ModelFields {...fields} models={models} />
        <SaveBar form={form} isSaving={save.isPending} onSave={submitChanges} />
      </Stack>
    </form>
  )
}
