import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { patchJson } from '../../api/client.ts'
import { differing } from '../../ui/conflict/shared-draft.ts'
import { ifMatch, useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { LeaveGuard } from '../spaces/leave-dialog.tsx'
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
        {isDirty && (
          <Paper withBorder px="md" py="sm" pos="sticky" bottom={0} style={{ zIndex: 2 }}>
            <Group justify="space-between" gap="sm">
              <Text size="sm">{t('settings.unsaved', { count: differing(draftOf(form.base), draft).length })}</Text>
              <Group gap="xs">
                <Button variant="default" onClick={form.discard}>
                  {t('settings.discard')}
                </Button>
                <Button type="submit" loading={save.isPending}>
                  {t('settings.save')}
                </Button>
              </Group>
            </Group>
          </Paper>
        )}
      </Stack>
      <LeaveGuard isDirty={isDirty && !save.isPending} />
      {form.dialog(submitChanges)}
    </form>
  )
}
