import { createHash } from 'node:crypto'
import type { Space } from '../spaces/index.ts'
import type { GoldenSettingValues } from './settings-change.ts'

/** The part of a Space that its answers depend on, as a run keeps it. */
export type SpaceSnapshot = Pick<Space, 'instructions' | 'model' | 'settings'>

export const snapshotOf = ({ instructions, model, settings }: SpaceSnapshot): SpaceSnapshot => ({
  instructions,
  model,
  settings,
})

/**
 * Identifies everything of a Space that a run depends on: equal where a new run would do the same. `documents` and `questions` are
 * stamps of their current state. A setting that is added later counts until it is left out here.
 */
export function identifyConfiguration({
  space,
  golden,
  documents,
  questions,
}: {
  space: SpaceSnapshot
  golden: GoldenSettingValues
  documents: string
  questions: string
}): string {
  const {
    keepUnansweredQuestions: _keepUnansweredQuestions,
    keepConversations: _keepConversations,
    conversationDays: _conversationDays,
    // They change documents, which are stamped.
    ocr: _ocr,
    ocrLanguages: _ocrLanguages,
    // A run without the filter fails, and with it its documents are the same.
    requiredFilter: _requiredFilter,
    attribution,
    ...others
  } = space.settings
  // Off, as in runs before there was the setting.
  const settings = attribution === 'off' ? others : { ...others, attribution }
  const { agentic, passing, filter } = golden
  const fields = [space.instructions, space.model, sorted(settings), agentic, sorted(passing), documents, questions]
  // Equal for runs before there was the filter.
  if (filter) fields.push(JSON.stringify(filter))
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}

const sorted = (fields: object) => Object.entries(fields).toSorted(([left], [right]) => (left < right ? -1 : 1))
