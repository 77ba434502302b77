import '@mantine/core/styles/NumberInput.css'
import { ActionIcon, Badge, Button, Group, Menu, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { WebSourceBody } from '@contract/web-sources.ts'
import { deleteJson, getJson, postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Select } from '../../ui/select.tsx'

interface WebSourcesDialogProps {
  spaceId: string
  opened: boolean
  onClose: () => void
}

const pageSize = 20
const mostShown = 100
const refreshAfterMs = 3_000
const kinds = ['page', 'sitemap'] as const
const periods = ['once', 'day', 'week'] as const
const colours = { waiting: 'gray', read: 'green', gone: 'orange', failing: 'orange', failed: 'red' } as const

/** The web addresses of a Space: adds one, and shows when each was and will be read. */
export function WebSourcesDialog({ spaceId, opened, onClose }: WebSourcesDialogProps) {
  const { t } = useTranslation('web-sources')
  const { sources, total, showMore, run } = useSources(spaceId, opened)
  const base = `/api/spaces/${spaceId}/sources`
  return (
    <Dialog opened={opened} onClose={onClose} title={t('title')} size="lg" centered>
      <Stack gap="md">
        <Text size="sm">{t('text')}</Text>
        <AddForm onAdd={(body) => run(() => postJson(base, body), t('added'))} />
        <Text fw={600} size="sm">
          {t('list')}
        </Text>
        {sources.length === 0 && <Dimmed>{t('empty')}</Dimmed>}
        <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
          {sources.map((source) => (
            <SourceRow
              key={source.id}
              source={source}
              onRead={() => void run(() => postJson(`${base}/${source.id}/refresh`), t('started'))}
              onRemove={() => void run(() => deleteJson(`${base}/${source.id}`), t('removed'))}
            />
          ))}
        </Stack>
        {sources.length < Math.min(total, mostShown) && (
          <Button variant="default" onClick={showMore}>
            {t('more')}
          </Button>
        )}
      </Stack>
    </Dialog>
  )
}

function useSources(spaceId: string, opened: boolean) {
  const client = useQueryClient()
  const [limit, setLimit] = useState(pageSize)
  const { data } = useQuery({
    queryKey: ['web-sources', spaceId, limit],
    queryFn: ({ signal }) =>
      getJson<{ total: number; items: WebSourceBody[] }>(`/api/spaces/${spaceId}/sources?limit=${limit}`, { signal }),
    enabled: opened,
    refetchInterval: refreshAfterMs,
    placeholderData: keepPreviousData,
  })
  /** False if it failed. */
  async function run(act: () => Promise<unknown>, done: string): Promise<boolean> {
    try {
      await act()
      await client.invalidateQueries({ queryKey: ['web-sources', spaceId] })
      notifySuccess(done)
      return true
    } catch (error) {
      notifyError(error)
      return false
    }
  }
  return { sources: data?.items ?? [], total: data?.total ?? 0, showMore: () => setLimit(mostShown), run }
}

function AddForm({ onAdd }: { onAdd: (body: object) => Promise<boolean> }) {
  const { t } = useTranslation('web-sources')
  const [url, setUrl] = useState('')
  const [kind, setKind] = useState<(typeof kinds)[number]>('page')
  const [limit, setLimit] = useState(500)
  const [period, setPeriod] = useState<(typeof periods)[number]>('once')
  const [isSaving, setSaving] = useState(false)
  async function save(event: FormEvent) {
    event.preventDefault()
    setSaving(true)
    const place = kind === 'page' ? { url: url.trim() } : { sitemap: url.trim(), limit }
    if (await onAdd({ ...place, refresh: period === 'once' ? null : { every: period } })) setUrl('')
    setSaving(false)
  }
  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="sm">
        <TextInput
          data-autofocus
          label={t('url')}
          description={t('urlHint')}
          placeholder="https://example.org/handbook"
          inputMode="url"
          maxLength={2000}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Group gap="sm" align="flex-end">
          <Select
            label={t('kind')}
            w={150}
            allowDeselect={false}
            data={kinds.map((value) => ({ value, label: t(`${value}`) }))}
            value={kind}
            onChange={(value) => setKind(kinds.find((known) => known === value) ?? 'page')}
          />
          {kind === 'sitemap' && (
            <NumberInput
              label={t('limit')}
              w={150}
              min={1}
              max={5000}
              allowDecimal={false}
              value={limit}
              onChange={(value) => setLimit(Math.max(1, Number(value) || 1))}
            />
          )}
          <Select
            label={t('refresh')}
            w={150}
            allowDeselect={false}
            data={periods.map((value) => ({ value, label: t(`${value}`) }))}
            value={period}
            onChange={(value) => setPeriod(periods.find((known) => known === value) ?? 'once')}
          />
          <Button type="submit" loading={isSaving} disabled={url.trim() === ''} ml="auto">
            {t('add')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function SourceRow(props: { source: WebSourceBody; onRead: () => void; onRemove: () => void }) {
  const { source, onRead, onRemove } = props
  const { t } = useTranslation('web-sources')
  const format = useFormat()
  const { url, state, error, readAt, nextReadAt } = source
  const facts = [
    error && t(`error.${error.code}`),
    readAt && t('readAt', { time: format.dateTime(readAt) }),
    nextReadAt && t('next', { time: format.dateTime(nextReadAt) }),
  ].filter(Boolean)
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start">
      <Stack gap={2} style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Text>
        <Group gap="xs">
          <Badge size="sm" variant="light" color={colours[state]}>
            {t(`state.${state}`)}
          </Badge>
          <Dimmed size="xs">{facts.join(' · ')}</Dimmed>
        </Group>
      </Stack>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('actions', { url })}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onRead}>{t('readNow')}</Menu.Item>
          <Menu.Item color="red" onClick={onRemove}>
            {t('remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}
