import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import type { PutSingleSignOn, SingleSignOnBody } from '@contract/single-sign-on.ts'
import { Group, PasswordInput, Stack, Switch, TagsInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { putJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { SaveBar } from '../../ui/save-bar.tsx'
import { Section } from '../../ui/section.tsx'
import { singleSignOnPath, singleSignOnQuery } from './routes.tsx'

type Draft = Required<PutSingleSignOn>

const fields = ['name', 'issuer', 'clientId', 'clientSecret', 'verifiedClaim', 'allowedEmailDomains']
const hiddenSecret = '••••••••'

const draftOf = ({ draft }: SingleSignOnBody): Draft => ({
  name: draft?.name ?? '',
  issuer: draft?.issuer ?? '',
  clientId: draft?.clientId ?? '',
  clientSecret: '',
  verifiedClaim: draft?.verifiedClaim ?? 'email_verified',
  createAccounts: draft?.createAccounts ?? true,
  allowedEmailDomains: draft?.allowedEmailDomains ?? [],
})

/** The stored settings, which are not in force before they are tested and switched on. */
export function SettingsForm({ view, onDirty }: { view: SingleSignOnBody; onDirty: (isDirty: boolean) => void }) {
  const { t } = useTranslation('single-sign-on')
  const { errors, attempt } = useFieldErrors(fields, { other: 'issuer' })
  const form = useSettings(view)
  const { draft, set, isDirty } = form
  useEffect(() => onDirty(isDirty), [isDirty, onDirty])
  const save = useMutation({
    mutationFn: () => form.save(),
    onSuccess: (isSaved) => {
      if (isSaved) notifySuccess(t('settings.saved'))
    },
  })
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    void attempt(() => save.mutateAsync())
  }
  const text = (name: 'name' | 'issuer' | 'clientId' | 'verifiedClaim') => ({
    label: t(`settings.${name}`),
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    error: errors[name],
    autoComplete: 'off',
  })
  const isStored = view.draft !== null && view.draft.issuer === draft.issuer
  return (
    <Section title={t('settings.title')} description={t('settings.text')}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput {...text('issuer')} type="url" placeholder="https://" description={t('settings.issuerText')} />
          <Group grow align="start">
            <TextInput {...text('clientId')} />
            <PasswordInput
              label={t('settings.clientSecret')}
              placeholder={isStored ? hiddenSecret : ''}
              value={draft.clientSecret}
              onChange={(event) => set({ clientSecret: event.currentTarget.value })}
              error={errors['clientSecret']}
              autoComplete="new-password"
            />
          </Group>
          <TextInput {...text('name')} description={t('settings.nameText')} />
          <TagsInput
            label={t('settings.allowedEmailDomains')}
            description={t('settings.domainsText')}
            placeholder={draft.allowedEmailDomains.length === 0 ? 'example.com' : ''}
            value={draft.allowedEmailDomains}
            onChange={(allowedEmailDomains) => set({ allowedEmailDomains })}
            error={errors['allowedEmailDomains']}
            splitChars={[',', ' ', ';']}
          />
          <Switch
            label={t('settings.createAccounts')}
            description={t('settings.createText')}
            checked={draft.createAccounts}
            onChange={(event) => set({ createAccounts: event.currentTarget.checked })}
          />
          <TextInput {...text('verifiedClaim')} description={t('settings.claimText')} />
          <SaveBar form={form} isSaving={save.isPending} onSave={submit} />
        </Stack>
      </form>
    </Section>
  )
}

function useSettings(view: SingleSignOnBody) {
  const { t } = useTranslation('single-sign-on')
  const queryClient = useQueryClient()
  return useSharedDraft({
    view,
    draftOf,
    load: () => queryClient.fetchQuery({ ...singleSignOnQuery, staleTime: 0 }),
    send: ({ clientSecret, ...settings }, base) =>
      putJson(singleSignOnPath, { ...settings, ...(clientSecret !== '' && { clientSecret }) }, ifMatch(base)),
    labelOf: (field) => t(`settings.${field}`),
    secrets: { clientSecret: () => undefined },
  })
}
