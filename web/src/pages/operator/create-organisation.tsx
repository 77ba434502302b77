import { Group, Stack, Switch, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { postJson } from '../../api/client.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { fromLocalInput } from '../../ui/local-time.ts'
import { Select } from '../../ui/select.tsx'

const fields = ['name', 'plan', 'monthlyBudgetUsd', 'subscription.startsAt', 'subscription.endsAt'] as const
const plans = ['free', 'team', 'enterprise'] as const

/** The dialog that creates an organisation and leads to its page. */
export function CreateOrganisation({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('operator')
  return (
    <Dialog opened={opened} onClose={onClose} title={t('create.title')} size="md">
      <CreateForm onClose={onClose} />
    </Dialog>
  )
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('operator')
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(fields)
  const [plan, setPlan] = useState<string>('enterprise')
  const create = useMutation({
    mutationFn: (body: object) => postJson<OrganisationBody>('/api/organisations', body),
    async onSuccess({ id }) {
      await queryClient.invalidateQueries({ queryKey: ['operator', 'organisations'] })
      onClose()
      await navigate({ to: '/operator/organisations/$organisationId', params: { organisationId: id } })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    void attempt(() => create.mutateAsync(bodyOf(given, plan)))
  }
  const input = (name: (typeof fields)[number]) => ({ name, error: errors[name] })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput {...input('name')} label={t('fields.name')} data-autofocus required />
        <Select
          label={t('fields.plan')}
          description={t('fields.planText')}
          data={plans.map((value) => ({ value, label: t(`plan.${value}`) }))}
          value={plan}
          onChange={(value) => setPlan(value ?? 'free')}
          allowDeselect={false}
        />
        <TextInput
          {...input('monthlyBudgetUsd')}
          label={t('fields.monthlyBudgetUsd')}
          description={t('fields.monthlyBudgetText')}
          inputMode="decimal"
          defaultValue="0"
          leftSection="$"
        />
        <Group grow align="flex-start">
          <TextInput {...input('subscription.startsAt')} type="datetime-local" label={t('fields.startsAt')} />
          <TextInput {...input('subscription.endsAt')} type="datetime-local" label={t('fields.endsAt')} />
        </Group>
        <Switch name="gatewayEnabled" label={t('fields.gatewayEnabled')} />
        <DialogButtons onCancel={onClose} submit={t('create.submit')} loading={create.isPending} />
      </Stack>
    </form>
  )
}

function bodyOf(given: FormData, plan: string): object {
  const text = (name: string) => String(given.get(name) ?? '')
  const startsAt = fromLocalInput(text('subscription.startsAt'))
  const endsAt = fromLocalInput(text('subscription.endsAt'))
  return {
    name: text('name'),
    plan,
    monthlyBudgetUsd: text('monthlyBudgetUsd'),
    gatewayEnabled: given.get('gatewayEnabled') !== null,
    ...((startsAt ?? endsAt)
      ? { subscription: { ...(startsAt === null ? {} : { startsAt }), ...(endsAt === null ? {} : { endsAt }) } }
      : {}),
  }
}
