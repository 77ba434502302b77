import '@mantine/core/styles/NumberInput.css'
import { Group, NumberInput, Switch, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import type { FieldsProps } from './access-fields.tsx'
import type { SiteDraft } from './site-draft.ts'

/** What visitors may see and cost. */
export function LimitFields({ draft, onChange, errors }: FieldsProps) {
  const { t } = useTranslation('hosted-chat')
  const citations = (['title', 'quote', 'page'] as const).map((value) => ({ value, label: t(`limits.${value}`) }))
  return (
    <Section title={t('limits.heading')} description={t('limits.description')}>
      <TextInput
        label={t('limits.dailyCap')}
        description={t('limits.dailyCapHint')}
        value={draft.dailyCapUsd}
        onChange={({ currentTarget }) => onChange({ dailyCapUsd: currentTarget.value.replace(',', '.') })}
        error={errors['dailyCapUsd']}
        inputMode="decimal"
        leftSection={<span>$</span>}
        required
        maw={480}
        styles={{ wrapper: { maxWidth: 240 } }}
      />
      <Group align="flex-end" gap="md">
        {(['visitorPerMinute', 'addressPerMinute', 'spacePerMinute'] as const).map((field) => (
          <NumberInput
            key={field}
            label={t(`limits.${field}`)}
            value={draft[field]}
            onChange={(value) => onChange({ [field]: typeof value === 'number' ? value : '' })}
            error={errors[`limits.${field}`]}
            min={1}
            max={100_000}
            allowDecimal={false}
            w={270}
          />
        ))}
      </Group>
      <Select
        label={t('limits.citations')}
        description={t('limits.citationsHint')}
        data={citations}
        value={draft.citations}
        onChange={(value) => onChange({ citations: (value ?? 'quote') as SiteDraft['citations'] })}
        allowDeselect={false}
        maw={480}
      />
      <Switch
        label={t('limits.proof')}
        description={t('limits.proofHint')}
        checked={draft.proofAlways}
        onChange={({ currentTarget }) => onChange({ proofAlways: currentTarget.checked })}
      />
      <Switch
        label={t('limits.agentic')}
        description={t('limits.agenticHint')}
        checked={draft.agentic}
        onChange={({ currentTarget }) => onChange({ agentic: currentTarget.checked })}
      />
    </Section>
  )
}
