import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import '@mantine/core/styles/NumberInput.css'
import {
  Group,
  NumberInput,
  type NumberInputProps,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { SelectableModelView } from '@contract/console-spaces.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Section } from '../../ui/section.tsx'
import { maximumInstructions, type SpaceDraft } from './space-draft.ts'
import { ModelSelect } from './space-fields.tsx'

interface FieldsProps {
  draft: SpaceDraft
  onChange: (fields: Partial<SpaceDraft>) => void
  /** The message of the server about a field. */
  errorOf: (field: string) => string | undefined
}

/** The label of each field, for the choice between two changes. */
export const labelKeys = {
  name: 'field.name',
  instructions: 'settings.instructions',
  model: 'model.label',
  temperature: 'settings.temperature',
  maximumPassages: 'settings.maximumPassages',
  maximumPassageTokens: 'settings.maximumPassageTokens',
  wholeSpaceTokens: 'settings.wholeSpaceTokens',
  maximumOutputTokens: 'settings.maximumOutputTokens',
  maximumToolCostUsd: 'settings.maximumToolCost',
  baseTierFallback: 'settings.fallback',
  keepUnansweredQuestions: 'settings.keepQuestions',
  keepConversations: 'settings.keepConversations',
  conversationDays: 'settings.conversationDays',
  queryRewriting: 'settings.rewriting',
  attribution: 'settings.attribution',
  ocr: 'settings.ocr',
  ocrLanguages: 'settings.ocrLanguages',
  requiredFilter: 'settings.requiredFilter',
} as const satisfies Record<keyof SpaceDraft, string>

export function GeneralFields({ draft, onChange, errorOf, models }: FieldsProps & { models: SelectableModelView[] }) {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const length = draft.instructions.length
  return (
    <Section title={t('settings.general')}>
      <TextInput
        label={t('field.name')}
        value={draft.name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        error={draft.name.trim() === '' ? t('settings.nameMissing') : errorOf('name')}
        maxLength={200}
        required
        maw={480}
      />
      <Stack gap={4}>
        <Textarea
          label={t('settings.instructions')}
          description={t('settings.instructionsHint')}
          value={draft.instructions}
          onChange={({ currentTarget }) => onChange({ instructions: currentTarget.value })}
          error={length > maximumInstructions ? t('settings.instructionsTooLong') : errorOf('instructions')}
          autosize
          minRows={8}
          maxRows={24}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        />
        <Text size="xs" c={length > maximumInstructions ? 'var(--mantine-color-error)' : 'dimmed'} ta="right">
          {t('settings.characters', { used: format.number(length), limit: format.number(maximumInstructions) })}
        </Text>
      </Stack>
      <ModelSelect
        models={models}
        value={draft.model}
        onChange={(model) => onChange({ model })}
        error={errorOf('model')}
      />
    </Section>
  )
}

export function AnswerFields(props: FieldsProps & { fallbackModel: string | null }) {
  const { draft, onChange, fallbackModel } = props
  const { t } = useTranslation('spaces')
  return (
    <Section title={t('settings.answers')}>
      <Group align="flex-end" gap="lg">
        {passageFields.map(({ field, ...limits }) => (
          <NumberField
            key={field}
            {...props}
            field={field}
            input={{ ...limits, allowDecimal: false, required: true }}
          />
        ))}
        <NumberField
          {...props}
          field="temperature"
          input={{ placeholder: t('settings.providerDefault'), min: 0, max: 2, step: 0.1, decimalScale: 2 }}
        />
        <NumberField
          {...props}
          field="maximumOutputTokens"
          input={{ placeholder: t('settings.modelLimit'), min: 1, allowDecimal: false, step: 100 }}
        />
        <NumberField
          {...props}
          field="maximumToolCostUsd"
          input={{
            placeholder: t('settings.noLimit'),
            min: 0,
            max: 1000,
            step: 0.1,
            prefix: '$',
            w: { base: 240, sm: 496 },
          }}
        />
      </Group>
      <Switch
        mt="xs"
        label={t('settings.fallback')}
        description={
          fallbackModel === null ? t('settings.fallbackNone') : t('settings.fallbackHint', { model: fallbackModel })
        }
        checked={draft.baseTierFallback}
        onChange={({ currentTarget }) => onChange({ baseTierFallback: currentTarget.checked })}
      />
      <AutomaticFields {...props} />
    </Section>
  )
}

/** What the service does by itself. */
function AutomaticFields({ draft, onChange }: FieldsProps) {
  const { t } = useTranslation('spaces')
  return (
    <>
      {(['queryRewriting', 'attribution', 'ocr'] as const).map((field) => (
        <Switch
          key={field}
          label={t(labelKeys[field])}
          description={t(`${labelKeys[field]}Hint`)}
          checked={draft[field] === 'auto'}
          onChange={({ currentTarget }) => onChange({ [field]: currentTarget.checked ? 'auto' : 'off' })}
        />
      ))}
      {draft.ocr === 'auto' && (
        <TextInput
          label={t('settings.ocrLanguages')}
          description={t('settings.ocrLanguagesHint')}
          value={draft.ocrLanguages}
          onChange={({ currentTarget }) => onChange({ ocrLanguages: currentTarget.value })}
          w={{ base: 240, sm: 496 }}
        />
      )}
    </>
  )
}

const passageFields = [
  { field: 'maximumPassages', min: 1, max: 50, step: 1 },
  { field: 'maximumPassageTokens', min: 500, max: 50_000, step: 500 },
  { field: 'wholeSpaceTokens', min: 0, max: 50_000, step: 500 },
] as const

type NumberFieldName =
  | (typeof passageFields)[number]['field']
  | 'temperature'
  | 'maximumOutputTokens'
  | 'maximumToolCostUsd'
  | 'conversationDays'

function NumberField(props: FieldsProps & { field: NumberFieldName; input: NumberInputProps }) {
  const { draft, onChange, errorOf, field, input } = props
  const { t } = useTranslation('spaces')
  return (
    <NumberInput
      label={t(labelKeys[field])}
      description={t(`${labelKeys[field]}Hint`)}
      value={draft[field]}
      onChange={(value) => onChange({ [field]: typeof value === 'number' ? value : '' })}
      error={errorOf(`settings.${field}`)}
      w={240}
      {...input}
    />
  )
}

/** Which fields of the metadata each request must restrict. Only administrators may change it. */
export function FilterFields({
  draft,
  onChange,
  errorOf,
  isAdministrator,
}: FieldsProps & { isAdministrator: boolean }) {
  const { t } = useTranslation('spaces')
  return (
    <Section title={t('settings.filter')}>
      <TagsInput
        label={t('settings.requiredFilter')}
        description={isAdministrator ? t('settings.requiredFilterHint') : t('settings.keepQuestionsRole')}
        placeholder={draft.requiredFilter.length === 0 ? t('settings.requiredFilterExample') : ''}
        value={draft.requiredFilter}
        onChange={(requiredFilter) => onChange({ requiredFilter })}
        error={errorOf('settings.requiredFilter')}
        disabled={!isAdministrator}
        maxTags={5}
        splitChars={[',']}
        maw={496}
      />
    </Section>
  )
}

/** Only administrators may change what is kept of the questions of visitors. */
export function PrivacyFields({
  draft,
  onChange,
  errorOf,
  isAdministrator,
}: FieldsProps & { isAdministrator: boolean }) {
  const { t } = useTranslation('spaces')
  return (
    <Section title={t('settings.privacy')}>
      <Switch
        label={t('settings.keepQuestions')}
        description={isAdministrator ? t('settings.keepQuestionsHint') : t('settings.keepQuestionsRole')}
        checked={draft.keepUnansweredQuestions}
        disabled={!isAdministrator}
        onChange={({ currentTarget }) => onChange({ keepUnansweredQuestions: currentTarget.checked })}
      />
      <Switch
        label={t('settings.keepConversations')}
        description={isAdministrator ? t('settings.keepConversationsHint') : t('settings.keepQuestionsRole')}
        checked={draft.keepConversations}
        disabled={!isAdministrator}
        onChange={({ currentTarget }) => onChange({ keepConversations: currentTarget.checked })}
      />
      {draft.keepConversations && (
        <NumberField
          {...{ draft, onChange, errorOf }}
          field="conversationDays"
          input={{ disabled: !isAdministrator, min: 1, max: 400, allowDecimal: false }}
        />
      )}
    </Section>
  )
}
