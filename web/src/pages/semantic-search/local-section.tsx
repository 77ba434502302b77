import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { useLocalModel, useSemanticSearch } from './use-semantic-search.ts'

type Install = NonNullable<SemanticSearchBody['local']['install']>

/** An open model that needs no provider: its installation and its use. */
export function LocalSection({ view }: { view: SemanticSearchBody }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const { model, licence, bytes, install, hasFiles } = view.local
  const { start } = useLocalModel()
  const isBusy = install?.state === 'running'
  const begin = t(hasFiles ? 'local.again' : install === null ? 'local.install' : 'local.continue')
  return (
    <Section
      title={t('local.title')}
      description={t('local.text', { model, licence, size: format.bytes(bytes) })}
      actions={
        !isBusy && (
          <Button variant={hasFiles ? 'default' : undefined} loading={start.isPending} onClick={() => start.mutate()}>
            {begin}
          </Button>
        )
      }
    >
      <Stack gap="md">
        {isBusy && <Running install={install} bytes={bytes} />}
        {(install?.state === 'failed' || install?.state === 'stopped') && <Ended install={install} bytes={bytes} />}
        {hasFiles && !isBusy && <Installed view={view} />}
        <Stack gap="xs">
          <Dimmed>{t('local.others')}</Dimmed>
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

/** Where it is, and its use with one click. */
function Installed({ view }: { view: SemanticSearchBody }) {
  const { t } = useTranslation('semantic-search')
  const { change } = useSemanticSearch(view)
  const { model, hasRuntime, install } = view.local
  const isChosen = view.model === model
  return (
    <Alert color="teal" title={t(isChosen ? 'local.inUse' : 'local.done')}>
      <Stack gap="sm" align="start">
        {install && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t('local.place', { host: install.host, folder: install.folder })}
          </Text>
        )}
        {!hasRuntime && <CopyField label={t('local.runtime')} value="npm run install:onnx" />}
        {hasRuntime && !isChosen && (
          <>
            <Text size="sm">{t('local.before')}</Text>
            <Button
              size="compact-sm"
              aria-label={t('offers.useModel', { model })}
              loading={change.isPending}
              onClick={() => change.mutate(model)}
            >
              {t('offers.use')}
            </Button>
          </>
        )}
      </Stack>
    </Alert>
  )
}
