import '@mantine/core/styles/Drawer.css'
import type { ProviderView } from '@contract/console-models.ts'
import type { DiscoveredModels, ProviderTest } from '@contract/models.ts'
import { Alert, Button, Group, Progress, Stack, Switch, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { deleteJson, postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Facts } from '../../ui/facts.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { notifyError } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { Time } from '../../ui/time.tsx'
import { AddByName } from './add-by-name.tsx'
import { SourceBadge } from './badges.tsx'
import { DiscoveredModelsList } from './discovered-models.tsx'
import { Credentials } from './providers-page.tsx'
import { TestResult } from './test-result.tsx'
import { useCatalogueChange, useEnable } from './use-catalogue.ts'

interface DrawerProps {
  onClose: () => void
  onEdit: (provider: ProviderView) => void
}

const addressOf = (id: string) => `/api/providers/${encodeURIComponent(id)}`

/** One provider: its settings, its test, its models and its connections. */
export function ProviderDrawer({ provider, ...props }: DrawerProps & { provider: ProviderView | undefined }) {
  return (
    <SidePanel
      opened={provider !== undefined}
      onClose={props.onClose}
      title={provider?.id ?? ''}

      size="xl"
      styles={{ title: { fontFamily: 'var(--mantine-font-family-monospace)', fontWeight: 600 } }}
    >
      {provider && <ProviderDetails key={provider.id} provider={provider} {...props} />}
    </SidePanel>
  )
}

function ProviderDetails({ provider, onClose, onEdit }: DrawerProps & { provider: ProviderView }) {
  const { t } = useTranslation('models')
  const isEditable = provider.declaredIn === 'operator'
  return (
    <Stack gap="xl">
      <Stack gap="md">
        <Group justify="space-between">
          <EnabledSwitch provider={provider} />
          {isEditable && (
            <Group gap="xs">
              <Button variant="default" onClick={() => onEdit(provider)}>
                {t('edit')}
              </Button>
              <RemoveButton provider={provider} onRemoved={onClose} />
            </Group>
          )}
        </Group>
        {!isEditable && <Alert color="gray">{t(`readOnly.${provider.declaredIn}`)}</Alert>}
        {provider.replaces && <Alert color="gray">{t('providers.replaces')}</Alert>}
        <Settings provider={provider} />
      </Stack>
      <TestSection provider={provider} />
      <ModelsSection provider={provider} />
      {provider.connections && <ConnectionsSection connections={provider.connections} />}
    </Stack>
  )
}

function Settings({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation('models')
  const items = [
    {
      label: t('providerForm.format'),
      value: [...new Set([provider.format, provider.flavour])].filter(Boolean).join(' · '),
    },
    { label: t('field.baseUrl'), value: provider.baseUrl },
    { label: t('hosting'), value: provider.hosting || t('hostingMissing') },
    { label: t('field.region'), value: provider.region },
    { label: t('field.project'), value: provider.project },
    { label: t('field.apiVersion'), value: provider.apiVersion },
    { label: t('providers.credentials'), value: <Credentials provider={provider} /> },
    { label: t('providers.headers'), value: provider.headerNames.join(', ') || undefined },
    { label: t('providerForm.models'), value: provider.models && t(`modelSource.${provider.models}`) },
    { label: t('providers.priceLists'), value: provider.priceLists?.join(', ') || undefined },
    {
      label: t('declaredIn'),
      value: <SourceBadge source={provider.declaredIn} isOverridden={provider.isSwitched} />,
    },
  ]
  return <Facts items={items} columns={{ sm: 3 }} />
}

function EnabledSwitch({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation('models')
  const change = useEnable(addressOf(provider.id), provider)
  return (
    <Switch
      label={provider.enabled ? t('providers.enabled') : t('providers.disabled')}
      checked={provider.enabled}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  )
}

function RemoveButton({ provider, onRemoved }: { provider: ProviderView; onRemoved: () => void }) {
  const { t } = useTranslation('models')
  const remove = useCatalogueChange(
    () => deleteJson(addressOf(provider.id)),
    () => t('providers.removed', { id: provider.id }),
  )
  return (
    <Button
      variant="light"
      color="red"
      loading={remove.isPending}
      onClick={() =>
        openConfirm({
          title: t('providers.removeTitle', { id: provider.id }),
          text: t('providers.removeText', { id: provider.id }),
          confirm: t('remove'),
          onConfirm: () => remove.mutate(undefined, { onSuccess: onRemoved }),
        })
      }
    >
      {t('remove')}
    </Button>
  )
}

function TestSection({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation('models')
  const test = useCatalogueChange(() => postJson<ProviderTest>(`${addressOf(provider.id)}/test`, {}))
  const result = test.data ?? provider.lastTest
  return (
    <Section
      title={t('test.title')}
      description={t('test.description')}
      actions={
        <Button variant="default" onClick={() => test.mutate()} loading={test.isPending} disabled={!provider.enabled}>
          {t('test.run')}
        </Button>
      }
    >
      <div aria-live="polite">
        {result ? (
          <Stack gap="sm">
            <TestResult result={result} />
            {!test.data && provider.lastTest && (
              <Dimmed size="xs">
                {t('test.at')} <Time value={provider.lastTest.at} />
              </Dimmed>
            )}
          </Stack>
        ) : (
          <Dimmed>{t('test.neverText')}</Dimmed>
        )}
      </div>
    </Section>
  )
}

function ModelsSection({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation('models')
  const discover = useMutation({
    mutationFn: () => postJson<DiscoveredModels>(`${addressOf(provider.id)}/discover`),
    onError: notifyError,
  })
  return (
    <Section
      title={t('discover.title')}
      description={t('discover.description')}
      actions={
        <Button
          variant="default"
          onClick={() => discover.mutate()}
          loading={discover.isPending}
          disabled={!provider.enabled}
        >
          {t('discover.run')}
        </Button>
      }
    >
      <Text size="sm">
        {t('providers.callable', provider.deployments)}{' '}
        {provider.deployments.total > 0 && (
          <AnchorLink size="sm" underline="always" to="/operator/deployments" search={{ provider: provider.id }}>
            {t('providers.toDeployments')}
          </AnchorLink>
        )}
      </Text>
      {discover.data && (
        <DiscoveredModelsList providerId={provider.id} found={discover.data} onAdded={() => discover.mutate()} />
      )}
      <AddByName providerId={provider.id} />
    </Section>
  )
}

function ConnectionsSection({ connections }: { connections: NonNullable<ProviderView['connections']> }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const { inUse, maximum, waiting, organisations } = connections
  return (
    <Section title={t('providers.connections')} description={t('providers.connectionsText')}>
      <Progress value={(inUse / maximum) * 100} aria-label={t('providers.connections')} />
      <Text size="sm">
        {t('providers.connectionCounts', {
          inUse: format.number(inUse),
          maximum: format.number(maximum),
          waiting: format.number(waiting),
        })}
      </Text>
      {organisations.map(({ id, name, held, waiting: waits }) => (
        <Group key={id ?? ''} justify="space-between">
          <Text size="sm">{name ?? id ?? t('providers.serviceItself')}</Text>
          <Dimmed>
            {t('providers.organisationShare', { held: format.number(held), waiting: format.number(waits) })}
          </Dimmed>
        </Group>
      ))}
    </Section>
  )
}
