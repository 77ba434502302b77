import { ActionIcon, Button, Group, Progress, Text } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconRefresh, IconX } from '@tabler/icons-react'
import { memo, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import styles from './files.module.css'
import { isActive, type Upload, type UploadLimits, type UploadQueue } from './upload-queue.ts'

/** Most uploads that are listed: first what runs or needs attention. */
const maximumShown = 100
const urgency: Record<Upload['state'], number> = {
  uploading: 0,
  failed: 1,
  refused: 1,
  waiting: 2,
  skipped: 3,
  cancelled: 3,
  done: 4,
}

/** The uploads of this browser, with their bytes. What follows after an upload is in the table. */
export function UploadPanel({ queue, limits }: { queue: UploadQueue; limits: UploadLimits }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const uploads = useSyncExternalStore(queue.subscribe, queue.uploads)
  // Until a person decides, the panel is open while something runs or needs attention.
  const [chosen, setChosen] = useState<boolean>()
  if (uploads.length === 0) return null
  const shown = uploads.toSorted((left, right) => urgency[left.state] - urgency[right.state]).slice(0, maximumShown)
  const active = uploads.filter(isActive)
  const hidden = uploads.length - shown.length
  const hasFailed = uploads.some(({ state }) => state === 'failed')
  const needsAttention = active.length > 0 || uploads.some(({ state }) => state === 'failed' || state === 'refused')
  const isOpen = chosen ?? needsAttention
  const ToggleIcon = isOpen ? IconChevronUp : IconChevronDown
  return (
    <section className={styles['uploads']} aria-label={t('uploads.title')}>
      <Group justify="space-between" px="sm" py={6} gap="xs">
        <Totals uploads={uploads} />
        <Group gap={4}>
          {hasFailed && (
            <Button size="compact-xs" variant="default" onClick={queue.retryFailed}>
              {t('uploads.retryFailed')}
            </Button>
          )}
          {active.length > 0 ? (
            <Button size="compact-xs" variant="subtle" color="red" onClick={queue.cancelAll}>
              {t('uploads.cancelAll')}
            </Button>
          ) : (
            <Button size="compact-xs" variant="subtle" onClick={queue.clear}>
              {t('uploads.clear')}
            </Button>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            aria-label={isOpen ? t('uploads.hide') : t('uploads.show')}
            onClick={() => setChosen(!isOpen)}
          >
            <ToggleIcon size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      {isOpen && (
        <ul className={styles['upload-list']} tabIndex={0} aria-label={t('uploads.title')}>
          {shown.map((upload) => (
            <UploadItem key={upload.id} upload={upload} queue={queue} limits={limits} />
          ))}
        </ul>
      )}
      {isOpen && hidden > 0 && (
        <Dimmed size="xs" px="sm" py={6}>
          {t('uploads.more', { count: hidden, n: format.number(hidden) })}
        </Dimmed>
      )}
    </section>
  )
}

function Totals({ uploads }: { uploads: readonly Upload[] }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const sent = uploads.filter(({ state }) => state !== 'refused' && state !== 'cancelled')
  const size = sent.reduce((sum, { file }) => sum + file.size, 0)
  const loaded = sent.reduce((sum, upload) => sum + upload.loaded, 0)
  const done = sent.filter(({ state }) => state === 'done' || state === 'skipped').length
  const text = t('uploads.progress', {
    done: format.number(done),
    total: format.number(sent.length),
    loaded: format.bytes(loaded),
    size: format.bytes(size),
  })
  const isBusy = uploads.some(isActive)
  const resultText = useResultText(uploads)
  return (
    <Group gap="sm" wrap="nowrap" flex={1} miw={0}>
      <Text size="sm" fw={600} role="status">
        {isBusy ? text : resultText}
      </Text>
      {isBusy && (
        <Progress
          flex={1}
          maw={320}
          miw={40}
          size="sm"
          value={size === 0 ? 0 : (loaded / size) * 100}
          aria-label={text}
        />
      )}
    </Group>
  )
}

const results = ['uploaded', 'skipped', 'rejected', 'failed', 'cancelled'] as const
const resultOf: Partial<Record<Upload['state'], (typeof results)[number]>> = {
  done: 'uploaded',
  skipped: 'skipped',
  refused: 'rejected',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** "6 files uploaded", or "6 uploaded, 3 rejected". */
function useResultText(uploads: readonly Upload[]): string {
  const { t } = useTranslation('files')
  const format = useFormat()
  const counts = Map.groupBy(uploads, ({ state }) => resultOf[state])
  const found = results.flatMap((result) => {
    const count = counts.get(result)?.length ?? 0
    return count === 0 ? [] : [{ result, count, n: format.number(count) }]
  })
  const [first] = found
  if (found.length === 1 && first?.result === 'uploaded') return t('uploads.uploaded', first)
  return found.map(({ result, n }) => t(`uploads.result.${result}`, { n })).join(', ')
}

const UploadItem = memo(function UploadItem(props: { upload: Upload; queue: UploadQueue; limits: UploadLimits }) {
  const { upload, queue, limits } = props
  const { t } = useTranslation('files')
  const format = useFormat()
  const { id, file, path, state, loaded } = upload
  return (
    <li className={styles['upload']}>
      <Text size="sm" truncate title={path === '' ? file.name : `${path}/${file.name}`}>
        {path !== '' && (
          <Text span size="sm" c="dimmed">
            {path}/
          </Text>
        )}
        {file.name}
      </Text>
      <div className={styles['state']}>
        {state === 'uploading' ? (
          <Progress size="sm" value={(loaded / file.size) * 100} aria-label={format.percent(loaded / file.size)} />
        ) : (
          <StateText upload={upload} limits={limits} />
        )}
      </div>
      <Dimmed size="xs" ta="end" className={styles['bytes']!}>
        {state === 'uploading' ? format.percent(loaded / file.size) : format.bytes(file.size)}
      </Dimmed>
      {isActive(upload) && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('uploads.cancel', { name: file.name })}
          onClick={() => queue.cancel(id)}
        >
          <IconX size={16} aria-hidden />
        </ActionIcon>
      )}
      {(state === 'failed' || state === 'cancelled') && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('uploads.retry', { name: file.name })}
          onClick={() => queue.retry(id)}
        >
          <IconRefresh size={16} aria-hidden />
        </ActionIcon>
      )}
    </li>
  )
})

function StateText({ upload, limits }: { upload: Upload; limits: UploadLimits }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const { state, refusal, message } = upload
  const isBad = state === 'refused' || state === 'failed'
  const text =
    refusal !== undefined
      ? t(`refusal.${refusal}`, {
          formats: limits.supportedExtensions.join(', '),
          size: format.byteLimit(limits.maximumBytes),
        })
      : state === 'failed'
        ? t('uploadState.failed', { message: message || t('uploads.connection') })
        : t(`uploadState.${state as 'waiting' | 'done' | 'skipped' | 'cancelled'}`)
  return (
    <Text size="xs" {...(isBad ? { className: styles['bad']! } : { c: 'dimmed' })} lineClamp={2} title={text}>
      {text}
    </Text>
  )
}
