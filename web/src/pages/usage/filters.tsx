import { Group, Pill, TextInput } from '@mantine/core'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { Select } from '../../ui/select.tsx'
import { useNames } from './names.ts'
import { useUsage } from './use-usage.ts'

const presets = [7, 30, 90] as const

/** The day `ago` days before today, in the time zone of the browser. */
function dayBefore(ago: number): string {
  const day = new Date()
  day.setDate(day.getDate() - ago)
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}

/** Range and filters, all of them in the address. */
export function Filters(props: { options: UsageReport['options'] | undefined; from?: string; to?: string }) {
  const { t } = useTranslation('usage')
  const { options, from, to } = props
  const { search, change } = useUsage()
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={t('filters.label')}>
      <Range from={from} to={to} />
      <Select
        label={t('split.model')}
        placeholder={t('filters.all')}
        data={withChosen(options?.models ?? [], search.model)}
        value={search.model ?? null}
        onChange={(model) => change({ model: model ?? undefined })}
        clearable
        searchable
        w={190}
      />
      <SurfaceSelect />
      <SpaceSelect spaces={options?.spaces ?? []} />
      {search.tagKey !== undefined && <TagPill tagKey={search.tagKey} tagValue={search.tagValue ?? ''} />}
    </Group>
  )
}

function Range({ from, to }: { from: string | undefined; to: string | undefined }) {
  const { t } = useTranslation('usage')
  const { search, change } = useUsage()
  const preset = presets.find((days) => search.from === dayBefore(days - 1) && search.to === undefined)
  const value = preset ? String(preset) : search.from === undefined && search.to === undefined ? 'period' : 'custom'
  return (
    <>
      <Select
        label={t('filters.range')}
        allowDeselect={false}
        data={[
          { value: 'period', label: t('filters.period') },
          ...presets.map((days) => ({ value: String(days), label: t('filters.lastDays', { count: days }) })),
          { value: 'custom', label: t('filters.custom') },
        ]}
        value={value}
        onChange={(chosen) => {
          if (chosen === 'period') change({ from: undefined, to: undefined })
          else if (chosen === 'custom') change({ from: from ?? dayBefore(29), to: to ?? dayBefore(0) })
          else change({ from: dayBefore(Number(chosen) - 1), to: undefined })
        }}
        w={170}
      />
      {value === 'custom' && (
        <>
          <DayInput label={t('filters.from')} value={search.from ?? from} onChange={(day) => change({ from: day })} />
          <DayInput label={t('filters.to')} value={search.to ?? to} onChange={(day) => change({ to: day })} />
        </>
      )}
    </>
  )
}

function DayInput(props: { label: string; value: string | undefined; onChange: (day: string) => void }) {
  return (
    <TextInput
      type="date"
      label={props.label}
      value={props.value ?? ''}
      onChange={({ currentTarget: { value } }) => value !== '' && props.onChange(value)}
      w={150}
    />
  )
}

function SurfaceSelect() {
  const { t } = useTranslation('usage')
  const names = useNames()
  const { search, change } = useUsage()
  return (
    <Select
      label={t('split.surface')}
      placeholder={t('filters.all')}
      data={(['gateway', 'space_chat', 'embeddings'] as const).map((id) => ({ value: id, label: names.surface(id) }))}
      value={search.surface ?? null}
      onChange={(surface) => change({ surface: (surface ?? undefined) as typeof search.surface })}
      clearable
      w={150}
    />
  )
}

function SpaceSelect({ spaces }: { spaces: UsageReport['options']['spaces'] }) {
  const { t } = useTranslation('usage')
  const names = useNames()
  const { search, change } = useUsage()
  const known = spaces.map(({ id, name }) => ({ value: id, label: names.value('space', { id, label: name }) }))
  const data = [{ value: 'none', label: t('noSpace') }, ...known]
  if (search.spaceId !== undefined && !data.some(({ value }) => value === search.spaceId)) {
    data.push({ value: search.spaceId, label: names.value('space', { id: search.spaceId, label: null }) })
  }
  return (
    <Select
      label={t('split.space')}
      placeholder={t('filters.all')}
      data={data}
      value={search.spaceId ?? null}
      onChange={(spaceId) => change({ spaceId: spaceId ?? undefined })}
      clearable
      searchable
      w={190}
    />
  )
}

function TagPill({ tagKey, tagValue }: { tagKey: string; tagValue: string }) {
  const { t } = useTranslation('usage')
  const names = useNames()
  const { change } = useUsage()
  return (
    <Pill
      size="lg"
      mb={4}
      withRemoveButton
      removeButtonProps={{ 'aria-label': t('filters.removeTag') }}
      onRemove={() => change({ tagKey: undefined, tagValue: undefined })}
    >
      {names.split(tagKey)}: {tagValue}
    </Pill>
  )
}

function withChosen(values: readonly string[], chosen: string | undefined): string[] {
  return chosen === undefined || values.includes(chosen) ? [...values] : [...values, chosen]
}
