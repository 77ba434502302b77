import { Badge, Group, Text, Tooltip } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { SelectableModelView, SpaceDocumentsView } from '@contract/console-spaces.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Select } from '../../ui/select.tsx'

/** Small parts that several pages about Spaces show. */

export function StateBadge({ published }: { published: boolean }) {
  const { t } = useTranslation('spaces')
  return (
    <Badge variant={published ? 'light' : 'default'} color="portico" tt="none" fw={500}>
      {published ? t('state.published') : t('state.unpublished')}
    </Badge>
  )
}

export function DocumentCounts({ documents }: { documents: SpaceDocumentsView }) {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const { ready, processing, failed } = documents
  if (ready + processing + failed === 0) return <Dimmed>{t('documents.none')}</Dimmed>
  return (
    <Group gap="xs">
      <Text size="sm">{t('documents.ready', { count: ready, shown: format.number(ready) })}</Text>
      {processing > 0 && (
        <Dimmed>{t('documents.processing', { count: processing, shown: format.number(processing) })}</Dimmed>
      )}
      {failed > 0 && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t('documents.failed', { count: failed, shown: format.number(failed) })}
        </Text>
      )}
    </Group>
  )
}

/** The id of a model, with a warning where the organisation cannot call it. */
export function ModelName({ model, available }: { model: string; available: boolean }) {
  const { t } = useTranslation('spaces')
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" ff="monospace" truncate>
        {model}
      </Text>
      {!available && (
        <Tooltip label={t('model.unavailable')}>
          <IconAlertTriangle
            size={16}
            color="var(--mantine-color-error)"
            role="img"
            aria-label={t('model.unavailable')}
          />
        </Tooltip>
      )}
    </Group>
  )
}

export function ModelSelect(props: {
  models: SelectableModelView[]
  value: string | null
  onChange: (model: string) => void
  error?: string | undefined
}) {
  const { models, value, onChange, error } = props
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const byId = new Map(models.map((model) => [model.id, model]))
  const ids = models.map(({ id }) => id)
  // The current model stays selectable to look at, also when it can no longer be called.
  const data = value === null || byId.has(value) ? ids : [value, ...ids]
  const describe = (id: string) => {
    const model = byId.get(id)
    if (!model) return t('model.unavailable')
    const prices = { input: format.money(model.input), output: format.money(model.output) }
    return t('model.prices', { ...prices, window: format.compact(model.contextTokens) })
  }
  return (
    <Select
      label={t('model.label')}
      description={value === null ? t('model.hint') : describe(value)}
      error={error}
      data={data}
      value={value}
      onChange={(id) => id !== null && onChange(id)}
      searchable
      allowDeselect={false}
      limit={200}
      maxDropdownHeight={320}
      nothingFoundMessage={t('model.notFound')}
      renderOption={({ option }) => (
        <div>
          <Text size="sm" ff="monospace">
            {option.value}
          </Text>
          <Dimmed size="xs">{describe(option.value)}</Dimmed>
        </div>
      )}
    />
  )
}
