import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { Button, Group, Stack, Switch, TagsInput, TextInput } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { AlertChannel, AlertKind, AlertSettingsBody, AlertSettingsChange } from '@contract/alerts.ts'
import { useTranslation } from 'react-i18next'
import { patchJson, postJson } from '../../api/client.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { Section } from '../../ui/section.tsx'
import { useChange } from '../../ui/use-change.ts'
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
      <Webhook settings={settings} />
    </Stack>
  )
}

function useLoadSettings() {
  const queryClient = useQueryClient()
  return () => queryClient.fetchQuery({ ...alertSettingsQuery, staleTime: 0 })
}

const send = (change: AlertSettingsChange, base: AlertSettingsBody) =>
  patchJson('/api/alerts/settings', change, ifMatch(base))

/** Saves a change, and reloads the settings. Undefined or true: everything is saved. */
function useSave<Input = void>(save: (input: Input) => Promise<unknown>) {
  const { t } = useTranslation('alerts')
  return useChange(save, { stale: alertsKey, done: () => t('settings.saved') })
}

function KindSettings({ settings }: { settings: AlertSettingsBody }) {
  const { t } = useTranslation('alerts')
  return (
    <Section title={t('settings.kinds')} description={t('settings.kindsText')}>
      <Stack gap="md">
        {kinds.map((kind) => (
          <KindRow key={kind} kind={kind} settings={settings} />
        ))}
      </Stack>
    </Section>
  )
}

function KindRow({ kind, settings }: { kind: AlertKind; settings: AlertSettingsBody }) {
  const { t } = useTranslation('alerts')
  const { enabled } = settings.kinds[kind]
  const load = useLoadSettings()
  const change = useSave((isOn: boolean) =>
    changeOneField({ view: settings, send: (base) => send({ kinds: { [kind]: { enabled: isOn } } }, base), load }),
  )
  const form = useSharedDraft({
    view: settings,
    draftOf: ({ kinds: { [kind]: stored } }) => ({ threshold: String(stored.threshold) }),
    load,
    send: ({ threshold }, base) =>
      threshold === '' ? undefined : send({ kinds: { [kind]: { threshold: Number(threshold) } } }, base),
    labelOf: () => t(`settings.threshold.${kind}`),
  })
  const save = useSave(() => form.save())
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <Switch
        label={t(`kind.${kind}`)}
        description={t(`settings.about.${kind}`)}
        checked={enabled}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
        style={{ flex: '1 1 320px' }}
      />
      <TextInput
        type="number"
        size="xs"
        label={t(`settings.threshold.${kind}`)}
        value={form.draft.threshold}
        onChange={(event) => form.set({ threshold: event.currentTarget.value })}
        onBlur={() => form.isDirty && save.mutate()}
        disabled={!enabled}
        min={0}
        w={190}
      />
      {form.dialog(() => save.mutate())}
    </Group>
  )
}

function Recipients({ settings }: { settings: AlertSettingsBody }) {
  const { t } = useTranslation('alerts')
  const form = useSharedDraft({
    view: settings,
    draftOf: ({ recipients }) => ({ recipients }),
    load: useLoadSettings(),
    send,
    labelOf: () => t('settings.recipients'),
  })
  const save = useSave(() => form.save())
  const { recipients } = form.draft
  return (
    <Section
      title={t('settings.email')}
      description={t(settings.mail.configured ? 'settings.emailText' : 'settings.noMail')}
    >
      <TagsInput
        label={t('settings.recipients')}
        placeholder="operators@example.org"
        value={recipients}
        onChange={(wanted) => form.set({ recipients: wanted })}
        splitChars={[',', ' ', ';']}
        clearable
      />
      <Group gap="xs">
        <Button variant="default" disabled={!form.isDirty} loading={save.isPending} onClick={() => save.mutate()}>
          {t('settings.save')}
        </Button>
        <TestButton channel="email" disabled={form.isDirty || recipients.length === 0 || !settings.mail.configured} />
      </Group>
      <LeaveGuard isDirty={form.isDirty && !save.isPending} />
      {form.dialog(() => save.mutate())}
    </Section>
  )
}

function TestButton({ channel, disabled }: { channel: AlertChannel; disabled: boolean }) {
  const { t } = useTranslation('alerts')
  const test = useChange(() => postJson('/api/alerts/test', { channel }), {
    stale: alertsKey,
    done: () => t('settings.tested'),
  })
  return (
    <Button variant="subtle" disabled={disabled} loading={test.isPending} onClick={() => test.mutate()}>
      {t(`settings.test.${channel}`)}
    </Button>
  )
}

const webhookOf = ({ webhook, version }: AlertSettingsBody) => ({ url: webhook?.url ?? null, version })

function Webhook({ settings }: { settings: AlertSettingsBody }) {
  const { t } = useTranslation('alerts')
  const load = useLoadSettings()
  const url = settings.webhook?.url ?? null
  return (
    <Section title={t('settings.webhook')} description={t('settings.webhookText')}>
      <WebhookForm
        path="/api/alerts/webhook"
        webhook={webhookOf(settings)}
        load={async () => webhookOf(await load())}
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
      {url === null && <Dimmed size="xs">{t('settings.noWebhook')}</Dimmed>}
    </Section>
  )
}
