import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { Alert, Button, Group, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { AlertChannel, AlertKind, AlertSettingsBody, AlertSettingsChange } from '@contract/alerts.ts'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { deleteJson, patchJson, postJson, putJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { alertSettingsQuery, alertsKey } from './alert-queries.ts'

const kinds = ['budget', 'velocity', 'provider', 'model', 'disk', 'ledger', 'jobs'] as const satisfies AlertKind[]

export function AlertSettings() {
  const { data: settings } = useSuspenseQuery(alertSettingsQuery)
  return (
    <Stack gap={40} maw={720}>
      <KindSettings settings={settings} />
      <Recipients settings={settings} />
      <Webhook url={settings.webhook?.url ?? null} />
    </Stack>
  )
}

/** A change of the settings, which reloads them. */
function useSettingsChange() {
  const { t } = useTranslation('alerts')
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (change: AlertSettingsChange) => patchJson('/api/alerts/settings', change),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: alertsKey })
      notifySuccess(t('settings.saved'))
    },
    onError: notifyError,
  })
}

function KindSettings({ settings }: { settings: AlertSettingsBody }) {
  const { t } = useTranslation('alerts')
  return (
    <Section title={t('settings.kinds')} description={t('settings.kindsText')}>
      <Stack gap="md">
        {kinds.map((kind) => (
          <KindRow key={kind} kind={kind} settings={settings.kinds[kind]} />
        ))}
      </Stack>
    </Section>
  )
}

function KindRow({ kind, settings }: { kind: AlertKind; settings: AlertSettingsBody['kinds'][AlertKind] }) {
  const { t } = useTranslation('alerts')
  const change = useSettingsChange()
  const [threshold, setThreshold] = useState(String(settings.threshold ?? ''))
  const save = () => {
    const wanted = Number(threshold)
    if (threshold !== '' && wanted !== settings.threshold) change.mutate({ kinds: { [kind]: { threshold: wanted } } })
  }
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <Switch
        label={t(`kind.${kind}`)}
        description={t(`settings.about.${kind}`)}
        checked={settings.enabled}
        onChange={(event) => change.mutate({ kinds: { [kind]: { enabled: event.currentTarget.checked } } })}
        style={{ flex: '1 1 320px' }}
      />
      {settings.threshold !== null && kind !== 'ledger' && (
        <TextInput
          type="number"
          size="xs"
          label={t(`settings.threshold.${kind}`)}
          value={threshold}
          onChange={(event) => setThreshold(event.currentTarget.value)}
          onBlur={save}
          disabled={!settings.enabled}
          min={0}
          w={190}
        />
      )}
    </Group>
  )
}

function Recipients({ settings }: { settings: AlertSettingsBody }) {
  const { t } = useTranslation('alerts')
  const change = useSettingsChange()
  const [recipients, setRecipients] = useState(settings.recipients)
  const isChanged = recipients.join('\n') !== settings.recipients.join('\n')
  return (
    <Section
      title={t('settings.email')}
      description={t(settings.mail.configured ? 'settings.emailText' : 'settings.noMail')}
    >
      <TagsInput
        label={t('settings.recipients')}
        placeholder="operators@example.org"
        value={recipients}
        onChange={setRecipients}
        splitChars={[',', ' ', ';']}
        clearable
      />
      <Group gap="xs">
        <Button
          variant="default"
          disabled={!isChanged}
          loading={change.isPending}
          onClick={() => change.mutate({ recipients })}
        >
          {t('settings.save')}
        </Button>
        <TestButton channel="email" disabled={isChanged || recipients.length === 0 || !settings.mail.configured} />
      </Group>
    </Section>
  )
}

function TestButton({ channel, disabled }: { channel: AlertChannel; disabled: boolean }) {
  const { t } = useTranslation('alerts')
  const queryClient = useQueryClient()
  const test = useMutation({
    mutationFn: () => postJson('/api/alerts/test', { channel }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: alertsKey })
      notifySuccess(t('settings.tested'))
    },
    onError: notifyError,
  })
  return (
    <Button variant="subtle" disabled={disabled} loading={test.isPending} onClick={() => test.mutate()}>
      {t(`settings.test.${channel}`)}
    </Button>
  )
}

/** The signing secret is shown once, after the address was set. */
function Webhook({ url }: { url: string | null }) {
  const { t } = useTranslation('alerts')
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(['url'])
  const [address, setAddress] = useState(url ?? '')
  const [secret, setSecret] = useState<string>()
  const reload = () => queryClient.invalidateQueries({ queryKey: alertsKey })
  const save = useMutation({
    mutationFn: () => putJson<{ secret: string }>('/api/alerts/webhook', { url: address }),
    onSuccess(made) {
      setSecret(made.secret)
      return reload()
    },
  })
  const remove = useMutation({
    mutationFn: () => deleteJson('/api/alerts/webhook'),
    async onSuccess() {
      setAddress('')
      setSecret(undefined)
      await reload()
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void attempt(() => save.mutateAsync())
  }
  const confirmRemove = () =>
    openConfirm({
      title: t('settings.removeTitle'),
      text: t('settings.removeText', { url }),
      confirm: t('settings.remove'),
      onConfirm: () => remove.mutate(),
    })
  return (
    <Section title={t('settings.webhook')} description={t('settings.webhookText')}>
      <form onSubmit={submit} noValidate>
        <Group align="flex-end" gap="xs">
          <TextInput
            type="url"
            label={t('settings.url')}
            placeholder="https://"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
            error={errors['url']}
            style={{ flex: '1 1 260px' }}
          />
          <Button type="submit" variant="default" loading={save.isPending} disabled={address === ''}>
            {t(url === null ? 'settings.set' : 'settings.replace')}
          </Button>
          {url !== null && (
            <Button variant="subtle" color="red" onClick={confirmRemove} loading={remove.isPending}>
              {t('settings.remove')}
            </Button>
          )}
        </Group>
      </form>
      {secret !== undefined && (
        <Alert title={t('settings.secretTitle')} color="portico" variant="light">
          <CopyField label={t('settings.secret')} value={secret} />
        </Alert>
      )}
      <Group gap="xs">
        <TestButton channel="webhook" disabled={url === null} />
      </Group>
      {url === null && (
        <Text size="xs" c="dimmed">
          {t('settings.noWebhook')}
        </Text>
      )}
    </Section>
  )
}
