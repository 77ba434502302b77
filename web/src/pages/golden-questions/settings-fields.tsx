import '@mantine/core/styles/NumberInput.css'
import { Group, Input, NumberInput, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { FixedFilterFields } from '../../ui/fixed-filter.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { gateMeasures, passingMeasures, type SettingsDraft } from './settings-draft.ts'

interface FieldsProps {
  draft: SettingsDraft
  change: (changed: Partial<SettingsDraft>) => void
  errors: Record<string, string>
}

const everies = ['never', 'change', 'day', 'week'] as const
/** A Monday. */
const monday = Date.UTC(2024, 0, 1)
const dayMs = 86_400_000

/** When runs begin, what they may cost, and how they answer. */
/** The label of each field, for the choice between two changes. */
export const labelKeys = {
  every: 'settings.schedule',
  weekday: 'settings.weekday',
  time: 'settings.time',
  maximumCostUsd: 'settings.maximumCost',
  agentic: 'settings.agentic',
  filter: 'settings.filter',
  passing: 'settings.passing',
  hasGate: 'settings.hasGate',
  gate: 'settings.gate',
} as const satisfies Record<keyof SettingsDraft, string>

export function RunFields({ draft, change, errors, requiredFilter }: FieldsProps & { requiredFilter: string[] }) {
  const { t } = useTranslation('golden-questions')
  const { locale } = useFormat()
  const dayName = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
  const weekdays = Array.from({ length: 7 }, (_, index) => ({
    value: String(index + 1),
    label: dayName.format(monday + index * dayMs),
  }))
  return (
    <Section title={t('settings.runs')} description={t('settings.runsText')}>
      <Group align="flex-end" gap="md">
        <Select
          label={t('settings.schedule')}
          data={everies.map((value) => ({ value, label: t(`settings.every.${value}`) }))}
          value={draft.every}
          onChange={(value) => change({ every: everies.find((every) => every === value) ?? 'never' })}
          allowDeselect={false}
          error={errors['schedule']}
          w={220}
        />
        {draft.every === 'week' && (
          <Select
            label={t('settings.weekday')}
            data={weekdays}
            value={String(draft.weekday)}
            onChange={(value) => change({ weekday: Number(value) })}
            allowDeselect={false}
            w={160}
          />
        )}
        {(draft.every === 'day' || draft.every === 'week') && (
          <TextInput
            type="time"
            label={t('settings.time')}
            value={draft.time}
            onChange={({ currentTarget }) => change({ time: currentTarget.value })}
            required
            w={130}
          />
        )}
      </Group>
      <NumberInput
        label={t('settings.maximumCost')}
        description={t('settings.maximumCostHint')}
        placeholder={t('settings.noLimit')}
        value={draft.maximumCostUsd}
        onChange={(value) => change({ maximumCostUsd: typeof value === 'number' ? value : '' })}
        error={errors['maximumCostUsd']}
        prefix="$"
        min={0}
        max={1_000}
        maw={400}
      />
      <Switch
        label={t('settings.agentic')}
        description={t('settings.agenticHint')}
        checked={draft.agentic}
        onChange={({ currentTarget }) => change({ agentic: currentTarget.checked })}
      />
      <FixedFilterFields
        fields={requiredFilter}
        filter={draft.filter}
        onChange={(filter) => change({ filter })}
        hint={t('settings.filterHint')}
      />
    </Section>
  )
}

/** What one question must reach. */
export function PassingFields({ draft, change, errors }: FieldsProps) {
  const { t } = useTranslation('golden-questions')
  return (
    <Section title={t('settings.passing')} description={t('settings.passingText')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {passingMeasures.map((name) => (
          <PercentInput
            key={name}
            label={t(`measure.${name}`)}
            description={t(`measureText.${name}`)}
            value={draft.passing[name]}
            onChange={(value) => change({ passing: { ...draft.passing, [name]: value } })}
            required
          />
        ))}
      </SimpleGrid>
      {errors['passing'] && <Input.Error>{errors['passing']}</Input.Error>}
    </Section>
  )
}

/** What a run must reach before the Space may be published. */
export function GateFields({ draft, change, errors }: FieldsProps) {
  const { t } = useTranslation('golden-questions')
  return (
    <Section title={t('settings.gate')} description={t('settings.gateText')}>
      <Switch
        label={t('settings.hasGate')}
        checked={draft.hasGate}
        onChange={({ currentTarget }) => change({ hasGate: currentTarget.checked })}
      />
      {draft.hasGate && (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {gateMeasures.map((name) => (
            <PercentInput
              key={name}
              label={t(`measure.${name}`)}
              description={t(`measureText.${name}`)}
              value={draft.gate[name]}
              onChange={(value) => change({ gate: { ...draft.gate, [name]: value } })}
            />
          ))}
        </SimpleGrid>
      )}
      {errors['gate'] && <Input.Error>{errors['gate']}</Input.Error>}
    </Section>
  )
}

function PercentInput(props: {
  label: string
  description: string
  value: number | ''
  onChange: (value: number | '') => void
  required?: boolean
}) {
  const { t } = useTranslation('golden-questions')
  const { value, onChange, ...field } = props
  return (
    <NumberInput
      {...field}
      value={value}
      onChange={(given) => onChange(typeof given === 'number' ? given : '')}
      placeholder={field.required ? '' : t('settings.notChecked')}
      withAsterisk={false}
      suffix=" %"
      min={0}
      max={100}
      step={5}
      decimalScale={2}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    />
  )
}
