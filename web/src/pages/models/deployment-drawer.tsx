import '@mantine/core/styles/Drawer.css'
import '@mantine/core/styles/NumberInput.css'
import type { DeploymentView } from '@contract/console-models.ts'
import type { DeploymentBody } from '@contract/models.ts'
import { Alert, Button, Group, NumberInput, Stack, Switch, Text } from '@mantine/core'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { deleteJson, patchJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { openConfirm } from '../../ui/confirm.tsx'
import { Facts } from '../../ui/facts.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Section } from '../../ui/section.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { Time } from '../../ui/time.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { HostingBadge, SourceBadge, StateBadge } from './badges.tsx'
import { ErrorShare, Milliseconds } from './health-text.tsx'
import { TrafficBars } from './traffic-bars.tsx'
import { useCatalogueChange, useEnable, useFreshEntry } from './use-catalogue.ts'

const addressOf = (id: string) => `/api/deployments/${encodeURIComponent(id)}`

/** One deployment: its health, what this instance observed, and what an operator can change. */
export function DeploymentDrawer(props: { deployment: DeploymentView | undefined; now: number; onClose: () => void }) {
  const { deployment, onClose } = props
  return (
    <SidePanel
      opened={deployment !== undefined}
      onClose={onClose}
      title={deployment?.id ?? ''}

      size="lg"
      styles={{ title: { fontFamily: 'var(--mantine-font-family-monospace)', fontWeight: 600 } }}
    >
      {deployment && (
        <Stack gap="xl" key={deployment.id}>
          <Stack gap="sm">
            <Group justify="space-between">
              <StateBadge state={deployment.state} />
              <TrafficBars traffic={deployment.traffic} />
            </Group>
            {deployment.problem && <Alert color="orange">{deployment.problem}</Alert>}
          </Stack>
          <HealthSection deployment={deployment} />
          <ObservedSection deployment={deployment} />
          <ChangeSection deployment={deployment} onRemoved={onClose} />
        </Stack>
      )}
    </SidePanel>
  )
}

function HealthSection({ deployment: { health } }: { deployment: DeploymentView }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const { lastError } = health
  const moment = (at: string | null) => (at === null ? '–' : <Time value={at} />)
  return (
    <Section title={t('health.title')} description={t('health.description')}>
      <Facts
        items={[
          { label: t('health.circuit'), value: t(`circuit.${health.circuit}`) },
          { label: t('health.since'), value: health.since === null ? t('health.sinceStart') : moment(health.since) },
          { label: t('health.tryAt'), value: moment(health.openUntil) },
          { label: t('health.rateLimit'), value: moment(health.rateLimitedUntil) },
          {
            label: t('health.recent'),
            value: t('health.recentCounts', {
              failures: format.number(health.recentFailures),
              calls: format.number(health.recentCalls),
            }),
          },
          { label: t('health.avoided'), value: moment(health.avoidedUntil) },
        ]}
        columns={{ sm: 3 }}
      />
      {lastError && (
        <Alert color="red" title={t('health.lastError', { time: format.relative(lastError.at) })}>
          <Text size="sm" ff="monospace" fz="xs" style={{ overflowWrap: 'anywhere' }}>
            {[lastError.class, lastError.status, lastError.message].filter((part) => part !== null).join(' · ')}
          </Text>
        </Alert>
      )}
    </Section>
  )
}

function ObservedSection({ deployment }: { deployment: DeploymentView }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const { traffic, price } = deployment
  const speed = traffic?.outputTokensPerSecond
  return (
    <Section title={t('deployments.observed')}>
      <Facts
        items={[
          { label: t('deployments.requests'), value: format.number(traffic?.requests ?? 0) },
          { label: t('deployments.errors'), value: <ErrorShare traffic={traffic} /> },
          { label: t('deployments.rejected'), value: format.number(traffic?.rejected ?? 0) },
          { label: t('deployments.latency'), value: <Milliseconds value={traffic?.latencyMs ?? null} /> },
          { label: t('deployments.firstBytes'), value: <Milliseconds value={traffic?.firstBytesMs ?? null} /> },
          { label: t('deployments.speed'), value: speed ? format.number(Math.round(speed)) : '–' },
          { label: t('deployments.lastCall'), value: traffic?.lastCallAt ? <Time value={traffic.lastCallAt} /> : '–' },
          {
            label: t('deployments.price'),
            value: price
              ? `${format.money(price.input, { exact: true })} / ${format.money(price.output, { exact: true })}`
              : '–',
          },
          {
            label: t('deployments.model'),
            value: (
              <AnchorLink inherit to="/operator/models/$modelId" params={{ modelId: deployment.model }}>
                {deployment.model}
              </AnchorLink>
            ),
          },
          { label: t('deployments.wireId'), value: deployment.wireId },
          { label: t('hosting'), value: <HostingBadge hosting={deployment.hosting} side={deployment.side} /> },
          {
            label: t('declaredIn'),
            value: <SourceBadge source={deployment.declaredIn} isOverridden={deployment.isOverridden} />,
          },
        ]}
        columns={{ sm: 3 }}
      />
    </Section>
  )
}

function ChangeSection({ deployment, onRemoved }: { deployment: DeploymentView; onRemoved: () => void }) {
  const { t } = useTranslation('models')
  const change = useEnable(addressOf(deployment.id), deployment)
  const isOwn = deployment.declaredIn === 'operator'
  return (
    <Section title={t('deployments.change')} description={isOwn ? undefined : t('deployments.changeText')}>
      <Switch
        label={deployment.enabled ? t('deployments.enabled') : t('deployments.disabled')}
        checked={deployment.enabled}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      <WeightForm deployment={deployment} />
      {(isOwn || deployment.isOverridden) && <RemoveButton deployment={deployment} onRemoved={onRemoved} />}
    </Section>
  )
}

function WeightForm({ deployment }: { deployment: DeploymentView }) {
  const { t } = useTranslation('models')
  const { errors, check, show } = useFieldErrors(['weight'])
  const loadFresh = useFreshEntry()
  const form = useSharedDraft({
    view: deployment as Pick<DeploymentView, 'version' | 'weight'>,
    draftOf: ({ weight }): { weight: number | string } => ({ weight }),
    load: () => loadFresh<DeploymentBody>(addressOf(deployment.id)),
    send: (wanted, base) => patchJson(addressOf(deployment.id), { weight: Number(wanted.weight) }, ifMatch(base)),
    labelOf: () => t('deployments.weight'),
  })
  const { weight } = form.draft
  const save = useCatalogueChange(
    () => form.save(),
    () => t('deployments.weightSaved'),
    { hasErrorPlace: true },
  )
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (!check({ weight: Number(weight) > 0 ? undefined : t('deployments.weightAboveZero') })) return
    save.mutate(undefined, { onError: show })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-end" gap="xs">
        <NumberInput
          label={t('deployments.weight')}
          description={t('deployments.weightText')}
          value={weight}
          onChange={(changed) => form.set({ weight: changed })}
          error={errors['weight']}
          min={0}
          decimalScale={3}
          inputWrapperOrder={['label', 'description', 'input', 'error']}
          hideControls
        />
        <Button type="submit" variant="default" loading={save.isPending} disabled={Number(weight) === form.base.weight}>
          {t('save')}
        </Button>
      </Group>
      {form.dialog(submit)}
    </form>
  )
}

/** Removes the operator's declaration: of an own deployment all of it, else the changed fields. */
function RemoveButton({ deployment, onRemoved }: { deployment: DeploymentView; onRemoved: () => void }) {
  const { t } = useTranslation('models')
  const { id, declaredIn } = deployment
  const isOwn = declaredIn === 'operator'
  const remove = useCatalogueChange(
    () => deleteJson(addressOf(id)),
    () => (isOwn ? t('deployments.removed', { id }) : t('deployments.reset', { id })),
  )
  const run = () => remove.mutate(undefined, isOwn ? { onSuccess: onRemoved } : {})
  if (!isOwn)
    return (
      <Button variant="default" onClick={run} loading={remove.isPending} w="fit-content">
        {t('deployments.undo')}
      </Button>
    )
  const ask = () =>
    openConfirm({
      title: t('deployments.removeTitle', { id }),
      text: t('deployments.removeText', { id }),
      confirm: t('remove'),
      onConfirm: run,
    })
  return (
    <Button variant="light" color="red" onClick={ask} loading={remove.isPending} w="fit-content">
      {t('deployments.remove')}
    </Button>
  )
}
