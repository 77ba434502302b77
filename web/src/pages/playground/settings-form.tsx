import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Select } from '../../ui/select.tsx'
import { schemaExamples, toolExamples } from './examples.ts'
import { JsonEditor } from './json-editor.tsx'
import { type CallableId, missingOf, type Need } from './model-needs.ts'
import type { JsonProblem } from './tool-definitions.ts'

export interface PlaygroundSettings {
  model: string
  system: string
  /** Undefined: the default of the provider. */
  temperature: number | undefined
  maximumTokens: number | undefined
  hasTools: boolean
  tools: string
  hasSchema: boolean
  schema: string
}

export const firstSettings = (model: string): PlaygroundSettings => ({
  model,
  system: '',
  temperature: undefined,
  maximumTokens: undefined,
  hasTools: false,
  tools: toolExamples.weather,
  hasSchema: false,
  schema: schemaExamples.city,
})

export interface FormProblems {
  tools: JsonProblem | undefined
  schema: JsonProblem | undefined
  /** What the model cannot do of what the request needs. */
  missing: Need[]
  /** Sentences of the gateway by field, about the last request. */
  refusals: Partial<Record<string, string>>
  areShown: boolean
}

interface SettingsFormProps {
  models: CallableId[]
  needs: Need[]
  settings: PlaygroundSettings
  problems: FormProblems
  onChange: (settings: PlaygroundSettings) => void
}

/** The fields of the request. They apply to the next message. */
export function SettingsForm({ models, needs, settings, problems, onChange }: SettingsFormProps) {
  const { t } = useTranslation(['playground', 'devtools'])
  const set = (change: Partial<PlaygroundSettings>) => onChange({ ...settings, ...change })
  const toNumber = (value: string | number) => (typeof value === 'number' ? value : undefined)
  const { areShown, refusals } = problems
  return (
    <Stack>
      <ModelSelect {...{ models, needs, problems }} value={settings.model} onChange={(model) => set({ model })} />
      <Textarea
        label={t('system')}
        description={t('systemDescription')}
        value={settings.system}
        onChange={(event) => set({ system: event.currentTarget.value })}
        autosize
        minRows={3}
        maxRows={12}
        maxLength={200_000}
      />
      <JsonEditor
        title={t('tools.title')}
        description={t('tools.description')}
        label={t('tools.label')}
        isOn={settings.hasTools}
        text={settings.tools}
        problem={problems.tools}
        refusal={refusals['tools']}
        showsProblem={areShown}
        examples={[
          { label: t('tools.weather'), text: toolExamples.weather },
          { label: t('tools.orders'), text: toolExamples.orders },
        ]}
        onSwitch={(hasTools) => set({ hasTools })}
        onChange={(tools) => set({ tools })}
      />
      <JsonEditor
        title={t('schema.title')}
        description={t('schema.description')}
        label={t('schema.label')}
        isOn={settings.hasSchema}
        text={settings.schema}
        problem={problems.schema}
        refusal={refusals['schema']}
        showsProblem={areShown}
        examples={[{ label: t('schema.city'), text: schemaExamples.city }]}
        onSwitch={(hasSchema) => set({ hasSchema })}
        onChange={(schema) => set({ schema })}
      />
      <TextInput
        type="number"
        label={t('temperature')}
        description={t('temperatureDescription')}
        value={settings.temperature ?? ''}
        onChange={(event) => set({ temperature: toNumber(event.currentTarget.value) })}
        error={refusals['temperature']}
        min={0}
        max={2}
        step={0.1}
      />
      <TextInput
        type="number"
        label={t('maximumTokens')}
        description={t('maximumTokensDescription')}
        value={settings.maximumTokens ?? ''}
        onChange={(event) => set({ maximumTokens: toNumber(event.currentTarget.value) })}
        error={refusals['maximumTokens']}
        min={1}
        max={models.find(({ id }) => id === settings.model)?.maxOutputTokens ?? 1_000_000}
        step={1}
      />
    </Stack>
  )
}

interface ModelSelectProps extends Pick<SettingsFormProps, 'models' | 'needs' | 'problems'> {
  value: string
  onChange: (id: string) => void
}

/** Models that cannot serve the request are disabled, with the reason. */
function ModelSelect({ models, needs, problems, value, onChange }: ModelSelectProps) {
  const { t } = useTranslation(['playground', 'devtools'])
  const format = useFormat()
  const money = (usd: string) => format.money(usd, { exact: true })
  const cannot = (missing: Need[]) => missing.map((need) => t(`cannot.${need}`)).join(', ')
  const reasons = new Map(models.map((model) => [model.id, cannot(missingOf(model, needs))]))
  const prices = models.find(({ id }) => id === value)?.prices
  const { missing, refusals } = problems
  return (
    <>
      <Select
        label={t('model')}
        data={models.map(({ id }) => ({ value: id, label: id, disabled: reasons.get(id) !== '' }))}
        renderOption={({ option: { value: id } }) => (
          <div style={{ overflowWrap: 'anywhere' }}>
            {id}
            {reasons.get(id) !== '' && (
              <Text size="xs" component="div">
                {reasons.get(id)}
              </Text>
            )}
          </div>
        )}
        value={value}
        onChange={(id) => onChange(id ?? value)}
        error={missing.length > 0 ? t('modelCannot', { reasons: cannot(missing) }) : refusals['model']}
        allowDeselect={false}
        searchable
        limit={100}
        nothingFoundMessage={t('devtools:models.noneFound')}
      />
      {prices && <Dimmed size="xs">{t('prices', { input: money(prices.input), output: money(prices.output) })}</Dimmed>}
    </>
  )
}
