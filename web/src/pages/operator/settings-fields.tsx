import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { MultiSelect, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import type { Draft, fieldNames } from './settings-draft.ts'

interface FieldsProps {
  draft: Draft
  set: (next: Partial<Draft>) => void
  errors: Partial<Record<string, string>>
}

/** An input whose value is text of the draft. */
function textProps({ draft, set, errors }: FieldsProps, name: keyof Draft, field: (typeof fieldNames)[number]) {
  return {
    value: draft[name] as string,
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    error: errors[field],
  }
}

const columns = { base: 1, xs: 2, lg: 3 }

export function GeneralFields(props: FieldsProps) {
  const { t } = useTranslation('operator')
  const { draft, set, errors } = props
  return (
    <Section title={t('settings.general')}>
      <SimpleGrid cols={columns}>
        <TextInput label={t('fields.name')} required {...textProps(props, 'name', 'name')} />
        <Select
          label={t('fields.plan')}
          description={t('fields.planText')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={(['free', 'team', 'enterprise'] as const).map((value) => ({ value, label: t(`plan.${value}`) }))}
          value={draft.plan}
          onChange={(plan) => set({ plan: plan ?? draft.plan })}
          allowDeselect={false}
          error={errors['plan']}
        />
        <Switch
          mt={{ base: 0, xs: 30 }}
          label={t('fields.gatewayEnabled')}
          description={t('fields.gatewayEnabledText')}
          checked={draft.gatewayEnabled}
          onChange={(event) => set({ gatewayEnabled: event.currentTarget.checked })}
        />
      </SimpleGrid>
    </Section>
  )
}

export function SubscriptionFields(props: FieldsProps) {
  const { t } = useTranslation('operator')
  const { draft, set, errors } = props
  return (
    <Section title={t('settings.subscription')} description={t('settings.subscriptionText')}>
      <SimpleGrid cols={columns}>
        <Select
          label={t('fields.status')}
          data={(['active', 'cancelled'] as const).map((value) => ({ value, label: t(`status.${value}`) }))}
          value={draft.status}
          onChange={(status) => set({ status: status ?? draft.status })}
          allowDeselect={false}
          error={errors['subscription.status']}
        />
        <TextInput
          type="datetime-local"
          label={t('fields.startsAt')}
          {...textProps(props, 'startsAt', 'subscription.startsAt')}
        />
        <TextInput
          type="datetime-local"
          label={t('fields.endsAt')}
          {...textProps(props, 'endsAt', 'subscription.endsAt')}
        />
      </SimpleGrid>
    </Section>
  )
}

export function BudgetFields(props: FieldsProps) {
  const { t } = useTranslation('operator')
  const { draft, set, errors } = props
  const zones = useMemo(() => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')], [])
  const known = zones.includes(draft.timeZone) ? zones : [draft.timeZone, ...zones]
  return (
    <Section title={t('settings.budget')} description={t('settings.budgetText')}>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
        <TextInput
          label={t('fields.monthlyBudgetUsd')}
          inputMode="decimal"
          leftSection="$"
          {...textProps(props, 'monthlyBudgetUsd', 'monthlyBudgetUsd')}
        />
        <TextInput
          label={t('fields.markupPercent')}
          inputMode="decimal"
          rightSection="%"
          {...textProps(props, 'markupPercent', 'markupPercent')}
        />
        <Select
          label={t('fields.timeZone')}
          data={known}
          searchable
          limit={60}
          value={draft.timeZone}
          onChange={(timeZone) => set({ timeZone: timeZone ?? draft.timeZone })}
          allowDeselect={false}
          error={errors['timeZone']}
        />
        <TextInput
          label={t('fields.periodAnchorDay')}
          inputMode="numeric"
          {...textProps(props, 'periodAnchorDay', 'periodAnchorDay')}
        />
      </SimpleGrid>
    </Section>
  )
}

export function LimitFields(props: FieldsProps) {
  const { t } = useTranslation('operator')
  return (
    <Section title={t('settings.limits')} description={t('settings.limitsText')}>
      <SimpleGrid cols={columns}>
        <TextInput
          label={t('fields.concurrentCalls')}
          inputMode="numeric"
          {...textProps(props, 'concurrentCalls', 'limits.concurrentCalls')}
        />
        <TextInput
          label={t('fields.requestsPerMinute')}
          placeholder={t('fields.noLimit')}
          inputMode="numeric"
          {...textProps(props, 'requestsPerMinute', 'limits.requestsPerMinute')}
        />
        <TextInput
          label={t('fields.tokensPerMinute')}
          placeholder={t('fields.noLimit')}
          inputMode="numeric"
          {...textProps(props, 'tokensPerMinute', 'limits.tokensPerMinute')}
        />
        <TextInput
          label={t('fields.concurrentUploads')}
          inputMode="numeric"
          {...textProps(props, 'concurrentUploads', 'limits.concurrentUploads')}
        />
      </SimpleGrid>
    </Section>
  )
}

export function ModelFields({ draft, set, errors, models }: FieldsProps & { models: string[] }) {
  const { t } = useTranslation('operator')
  // A model that no longer exists can still be disabled.
  const known = [...new Set([...models, ...draft.disabledModels])]
  return (
    <Section title={t('settings.models')} description={t('settings.modelsText')}>
      <MultiSelect
        label={t('fields.disabledModels')}
        placeholder={draft.disabledModels.length === 0 ? t('fields.noModels') : undefined}
        data={known}
        searchable
        clearable
        limit={100}
        value={draft.disabledModels}
        onChange={(disabledModels) => set({ disabledModels })}
        error={errors['disabledModels']}
        maw={720}
      />
    </Section>
  )
}
