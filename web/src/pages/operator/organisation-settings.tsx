import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { patchJson } from '../../api/client.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { LeaveGuard } from '../spaces/leave-dialog.tsx'
import { BudgetFields, GeneralFields, LimitFields, ModelFields, SubscriptionFields } from './settings-fields.tsx'
import { changesOf, type Draft, draftOf, fieldNames } from './settings-draft.ts'

/** All settings of an organisation that an operator may change. One request saves what differs. */
export function OrganisationSettings({ organisation, models }: { organisation: OrganisationBody; models: string[] }) {
  const { t } = useTranslation('operator')
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(fieldNames)
  const stored = draftOf(organisation)
  const [draft, setDraft] = useState<Draft>(stored)
  const changes = changesOf(stored, draft)
  const save = useMutation({
    mutationFn: () => patchJson(`/api/organisations/${organisation.id}`, changes),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['operator'] })
      void queryClient.invalidateQueries({ queryKey: ['audit'] })
      notifySuccess(t('settings.saved'))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changes) void attempt(() => save.mutateAsync())
  }
  const set = (next: Partial<Draft>) => setDraft((current) => ({ ...current, ...next }))
  const fields = { draft, set, errors }
  return (
    <form onSubmit={submit} noValidate aria-label={t('settings.title')}>
      <Stack gap={40}>
        <GeneralFields {...fields} />
        <SubscriptionFields {...fields} />
        <BudgetFields {...fields} />
        <LimitFields {...fields} />
        <ModelFields {...fields} models={models} />
        {changes && (
          <Paper withBorder px="md" py="sm" pos="sticky" bottom={0} style={{ zIndex: 2 }}>
            <Group justify="space-between" gap="sm">
              <Text size="sm">{t('settings.unsaved', { count: Object.keys(changes).length })}</Text>
              <Group gap="xs">
                <Button variant="default" onClick={() => setDraft(stored)}>
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
      <LeaveGuard isDirty={changes !== null && !save.isPending} />
    </form>
  )
}
