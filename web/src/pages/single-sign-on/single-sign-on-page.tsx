import type { SingleSignOnBody } from '@contract/single-sign-on.ts'
import { Alert, Badge, Button, Group, Stack } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { deleteJson, putJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { singleSignOnPath, singleSignOnQuery } from './routes.tsx'
import { SettingsForm } from './settings-form.tsx'
import { TestSection } from './test-section.tsx'

/** Sets single sign-on up: settings, a test sign-in, and the switch. */
export function SingleSignOnPage() {
  const { t } = useTranslation('single-sign-on')
  const { data: view } = useSuspenseQuery(singleSignOnQuery)
  const [isDirty, setDirty] = useState(false)
  const isConfigured = view.source === 'configuration'
  return (
    <Page title={t('title')} description={t('text')} actions={<StateBadge view={view} />}>
      <Stack gap="xl" maw={820}>
        {isConfigured && (
          <Alert color="gray" title={t('configured.title')}>
            {t('configured.text', { name: view.inForce!.name, issuer: view.inForce!.issuer })}
          </Alert>
        )}
        {view.redirectUrl === null ? (
          <Alert color="orange">{t('noPublicUrl')}</Alert>
        ) : (
          <Section title={t('register.title')} description={t('register.text')}>
            <CopyField label={t('register.redirectUrl')} value={view.redirectUrl} />
          </Section>
        )}
        {!isConfigured && view.redirectUrl !== null && (
          <>
            <SettingsForm view={view} onDirty={setDirty} />
            {view.draft && <TestSection view={view} isDirty={isDirty} />}
            {view.draft && <SwitchSection view={view} isDirty={isDirty} />}
          </>
        )}
      </Stack>
    </Page>
  )
}

function StateBadge({ view: { source } }: { view: SingleSignOnBody }) {
  const { t } = useTranslation('single-sign-on')
  return (
    <Badge color={source === null ? 'gray' : 'teal'} variant="light" size="lg">
      {t(source === null ? 'off' : 'on')}
    </Badge>
  )
}

function SwitchSection({ view, isDirty }: { view: SingleSignOnBody; isDirty: boolean }) {
  const { t } = useTranslation('single-sign-on')
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: (wanted: boolean) => {
      const path = `${singleSignOnPath}/active`
      return wanted
        ? putJson<SingleSignOnBody>(path, undefined, ifMatch(view))
        : deleteJson<SingleSignOnBody>(path, ifMatch(view))
    },
    onSuccess(stored) {
      queryClient.setQueryData(singleSignOnQuery.queryKey, stored)
      notifySuccess(t(stored.source === null ? 'switch.isOff' : 'switch.isOn'))
    },
    async onError(error) {
      notifyError(error)
      await queryClient.invalidateQueries({ queryKey: singleSignOnQuery.queryKey })
    },
  })
  const isOn = view.source === 'console'
  const confirmOff = () =>
    openConfirm({
      title: t('switch.offTitle'),
      text: t('switch.offText'),
      confirm: t('switch.off'),
      onConfirm: () => change.mutate(false),
    })
  const isReady = view.canSwitchOn && !isDirty
  return (
    <Section title={t('switch.title')} description={t(isOn ? 'switch.onText' : 'switch.text')}>
      {!view.isDraftInForce && !isReady && <Dimmed>{t('switch.needsTest')}</Dimmed>}
      <Group gap="xs">
        {!view.isDraftInForce && (
          <Button disabled={!isReady} loading={change.isPending} onClick={() => change.mutate(true)}>
            {t(isOn ? 'switch.replace' : 'switch.on')}
          </Button>
        )}
        {isOn && (
          <Button variant="default" loading={change.isPending} onClick={confirmOff}>
            {t('switch.off')}
          </Button>
        )}
      </Group>
    </Section>
  )
}
