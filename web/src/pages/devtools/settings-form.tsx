import type { OfferedModelView } from '@contract/console-developer-tools.ts'
import { NumberInput, Select, Stack, Text, Textarea } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import type { PlaygroundSettings } from './conversation.ts'

interface SettingsFormProps {
  ids: string[]
  models: OfferedModelView[]
  settings: PlaygroundSettings
  onChange: (settings: PlaygroundSettings) => void
}

/** The fields of the request. They apply to the next message. */
export function SettingsForm({ ids, models, settings, onChange }: SettingsFormProps) {
  const { t } = useTranslation('devtools')
  const format = useFormat()
  const set = (change: Partial<PlaygroundSettings>) => onChange({ ...settings, ...change })
  const toNumber = (value: string | number) => (typeof value === 'number' ? value : undefined)
  const model = models.find(({ standard, eu }) => standard?.id === settings.model || eu?.id === settings.model)
  const side = model?.eu?.id === settings.model ? model.eu : model?.standard
  const money = (usd: string) => format.money(usd, { exact: true })
  return (
    <Stack>
      <Select
        label={t('playground.model')}
        data={ids}
        value={settings.model}
        onChange={(id) => set({ model: id ?? settings.model })}
        allowDeselect={false}
        searchable
        limit={100}
        nothingFoundMessage={t('models.noneFound')}
      />
      {side && (
        <Text size="xs" c="dimmed">
          {t('playground.prices', { input: money(side.prices.input), output: money(side.prices.output) })}
        </Text>
      )}
      <Textarea
        label={t('playground.system')}
        description={t('playground.systemDescription')}
        value={settings.system}
        onChange={(event) => set({ system: event.currentTarget.value })}
        autosize
        minRows={3}
        maxRows={12}
        maxLength={200_000}
      />
      <NumberInput
        label={t('playground.temperature')}
        description={t('playground.temperatureDescription')}
        value={settings.temperature ?? ''}
        onChange={(value) => set({ temperature: toNumber(value) })}
        min={0}
        max={2}
        step={0.1}
        decimalScale={2}
      />
      <NumberInput
        label={t('playground.maximumTokens')}
        description={t('playground.maximumTokensDescription')}
        value={settings.maximumTokens ?? ''}
        onChange={(value) => set({ maximumTokens: toNumber(value) })}
        min={1}
        max={model?.maxOutputTokens ?? 1_000_000}
        allowDecimal={false}
      />
    </Stack>
  )
}
