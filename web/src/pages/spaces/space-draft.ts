import type { SpaceView } from '@contract/console-spaces.ts'

/** The settings of a Space as the form holds them. An empty number is the default of the provider or the model, or no limit. */
export interface SpaceDraft {
  name: string
  instructions: string
  model: string
  temperature: number | ''
  maximumPassages: number | ''
  maximumPassageTokens: number | ''
  wholeSpaceTokens: number | ''
  maximumOutputTokens: number | ''
  maximumToolCostUsd: number | ''
  baseTierFallback: boolean
  keepUnansweredQuestions: boolean
  keepConversations: boolean
  conversationDays: number | ''
  queryRewriting: 'auto' | 'off'
  attribution: 'auto' | 'off'
  ocr: 'auto' | 'off'
  /** Codes with blanks or commas between them. */
  ocrLanguages: string
  /** Names of metadata fields. */
  requiredFilter: string[]
}

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
  /** Cannot be empty. */
  const given = (field: 'maximumPassages' | 'maximumPassageTokens' | 'wholeSpaceTokens' | 'conversationDays') =>
    changed(field) && draft[field] !== '' ? { [field]: draft[field] } : {}
  const orNull = (value: number | '') => (value === '' ? null : value)
  const settings = {
    ...(changed('temperature') ? { temperature: orNull(draft.temperature) } : {}),
    ...given('maximumPassages'),
    ...given('maximumPassageTokens'),
    ...given('wholeSpaceTokens'),
    ...(changed('maximumOutputTokens') ? { maximumOutputTokens: orNull(draft.maximumOutputTokens) } : {}),
    ...(changed('maximumToolCostUsd') ? { maximumToolCostUsd: orNull(draft.maximumToolCostUsd) } : {}),
    ...(changed('baseTierFallback') ? { baseTierFallback: draft.baseTierFallback } : {}),
    ...(changed('queryRewriting') ? { queryRewriting: draft.queryRewriting } : {}),
    ...(changed('attribution') ? { attribution: draft.attribution } : {}),
    ...(changed('ocr') ? { ocr: draft.ocr } : {}),
    ...(changed('ocrLanguages') ? { ocrLanguages: draft.ocrLanguages.split(/[\s,]+/).filter(Boolean) } : {}),
    ...(changed('requiredFilter') ? { requiredFilter: draft.requiredFilter } : {}),
    ...(changed('keepConversations') ? { keepConversations: draft.keepConversations } : {}),
    ...given('conversationDays'),
    ...(changed('keepUnansweredQuestions') ? { keepUnansweredQuestions: draft.keepUnansweredQuestions } : {}),
  }
  const changes = {
    ...(changed('name') ? { name: draft.name.trim() } : {}),
    ...(changed('instructions') ? { instructions: draft.instructions } : {}),
    ...(changed('model') ? { model: draft.model } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}
