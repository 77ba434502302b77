import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { CopyField } from '../../ui/copy-field.tsx'
import { Section } from '../../ui/section.tsx'
import { useLocalModel } from './use-semantic-search.ts'

type Local = SemanticSearchBody['local']
type Install = NonNullable<Local['install']>

/** An open model that needs no provider: its installation, and the steps that remain. */
export function LocalSection({ local }: { local: Local }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const { model, licence, bytes, install } = local
  const { start } = useLocalModel()
  const isBusy = install?.state === 'running'
  const begin = t(install === null ? 'local.install' : install.state === 'done' ? 'local.again' : 'local.continue')
  return (
    <Section
      title={t('local.title')}
      description={t('local.text', { model, licence, size: format.bytes(bytes) })}
      actions={
        !isBusy && (
          <Button
            variant={install?.state === 'done' ? 'default' : undefined}
            loading={start.isPending}
            onClick={() => start.mutate()}
          >
            {begin}
          </Button>
        )
      }
    >
      <Stack gap="md">
        {isBusy && <Running install={install} bytes={bytes} />}
        {(install?.state === 'failed' || install?.state === 'stopped') && <Ended install={install} bytes={bytes} />}
        {install?.state === 'done' && <Installed local={local} install={install} />}
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            {t('local.others')}
          </Text>
          <CopyField label={t('local.command')} value="bin/portico embedder install" />
        </Stack>
      </Stack>
    </Section>
  )
}

function Running({ install: { bytesDone, host }, bytes }: { install: Install; bytes: number }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const { stop } = useLocalModel()
  const text = t('local.progress', { done: format.bytes(bytesDone), total: format.bytes(bytes), host })
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" fw={600} role="status">
          {text}
        </Text>
        <Button variant="default" size="compact-sm" loading={stop.isPending} onClick={() => stop.mutate()}>
          {t('local.stop')}
        </Button>
      </Group>
      <Progress value={(bytesDone / bytes) * 100} aria-label={text} />
    </Stack>
  )
}

/** Why it ended, and the way out. */
function Ended({ install: { state, problem, bytesDone, host }, bytes }: { install: Install; bytes: number }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const isStopped = state === 'stopped'
  const there = t('local.there', { done: format.bytes(bytesDone), total: format.bytes(bytes), host })
  return (
    <Alert color={isStopped ? 'gray' : 'orange'} title={t(isStopped ? 'local.stopped' : 'local.failed')}>
      <Stack gap="xs">
        {!isStopped && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {problem ?? t('local.ended', { host })}
          </Text>
        )}
        <Text size="sm">{there}</Text>
      </Stack>
    </Alert>
  )
}

/** Where it is, and the steps that remain. */
function Installed({ local: { model, hasRuntime }, install: { host, folder } }: { local: Local; install: Install }) {
  const { t } = useTranslation('semantic-search')
  return (
    <Alert color="teal" title={t('local.done')}>
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t('local.place', { host, folder })}
        </Text>
        {!hasRuntime && <CopyField label={t('local.runtime')} value="npm run install:onnx" />}
        <CopyField label={t('local.settings')} value={`PORTICO_EMBEDDER=onnx PORTICO_EMBEDDING_MODEL=${model}`} />
      </Stack>
    </Alert>
  )
}
