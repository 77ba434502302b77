import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { Button, Group, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { AlertChannel, AlertKind, AlertSettingsBody, AlertSettingsChange } from '@contract/alerts.ts'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { patchJson, postJson } from '../../api/client.ts'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { WebhookForm } from '../../ui/webhook-form.tsx'
import { alertSettingsQuery, alertsKey } from './alert-queries.ts'

const kinds = [
  'budget',
  'velocity',
  'provider',
  'model',
  'disk',
  'certificate',
  'ledger',
  'jobs',
] as const satisfies AlertKind[]

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
  const [threshold, setThreshold] = useState(String(settings.threshold))
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

function Webhook({ url }: { url: string | null }) {
  const { t } = useTranslation('alerts')
  return (
    <Section title={t('settings.webhook')} description={t('settings.webhookText')}>
      <WebhookForm
        path="/api/alerts/webhook"
        url={url}
        queryKey={alertsKey}
        texts={{
          url: t('settings.url'),
          set: t('settings.set'),
          replace: t('settings.replace'),
          remove: t('settings.remove'),
          removeTitle: t('settings.removeTitle'),
          removeText: t('settings.removeText', { url }),
          removed: t('settings.removed'),
          secretTitle: t('settings.secretTitle'),
          secret: t('settings.secret'),
        }}
      />
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
