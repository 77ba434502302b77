import type { SpaceView } from '@contract/console-spaces.ts'

/** The settings of a Space as the form holds them. An empty number is the default of the provider or the model, or no limit. */
export type SpaceDraft = Pick<SpaceView, 'name' | 'instructions' | 'model'> & {
  [Field in keyof Settings]: Settings[Field] extends number | null ? number | '' : Settings[Field]
} & {
  /** Codes with blanks or commas between them. */
  ocrLanguages: string
}

type Settings = Omit<SpaceView['settings'], 'ocrLanguages'>

/** As the server checks it. */
export const maximumInstructions = 50_000

export function draftOf({ name, instructions, model, settings }: SpaceView): SpaceDraft {
  const { temperature, maximumPassages, maximumOutputTokens, maximumToolCostUsd, ocrLanguages, ...switches } = settings
  return {
    name,
    instructions,
    model,
    temperature: temperature ?? '',
    maximumPassages,
    maximumOutputTokens: maximumOutputTokens ?? '',
    maximumToolCostUsd: maximumToolCostUsd ?? '',
    ocrLanguages: ocrLanguages.join(', '),
    ...switches,
  }
}

/** The fields that differ from the Space, as PATCH takes them; undefined where nothing differs. */
export function changesOf(draft: SpaceDraft, space: SpaceView): Record<string, unknown> | undefined {
  const saved = draftOf(space)
  const changed = (field: keyof SpaceDraft) => JSON.stringify(draft[field]) !== JSON.stringify(saved[field])
  const chosen = (field: keyof SpaceDraft) => (changed(field) ? { [field]: draft[field] } : {})
  /** Cannot be empty. */
  const given = (field: keyof SpaceDraft) => (draft[field] === '' ? {} : chosen(field))
  const orNull = (field: keyof SpaceDraft) =>
    changed(field) ? { [field]: draft[field] === '' ? null : draft[field] } : {}
  const settings = {
    ...orNull('temperature'),
    ...given('maximumPassages'),
    ...given('maximumPassageTokens'),
    ...given('wholeSpaceTokens'),
    ...orNull('maximumOutputTokens'),
    ...orNull('maximumToolCostUsd'),
    ...chosen('baseTierFallback'),
    ...chosen('queryRewriting'),
    ...chosen('attribution'),
    ...chosen('ocr'),
    ...(changed('ocrLanguages') ? { ocrLanguages: draft.ocrLanguages.split(/[\s,]+/).filter(Boolean) } : {}),
    ...chosen('requiredFilter'),
    ...chosen('keepConversations'),
    ...given('conversationDays'),
    ...chosen('keepUnansweredQuestions'),
  }
  const changes = {
    ...(changed('name') ? { name: draft.name.trim() } : {}),
    ...chosen('instructions'),
    ...chosen('model'),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}
