import { unreadableAnswer } from './wire-failure.ts'
import { asName, asObjects, type JsonObject } from './wire-json.ts'

/** The ids of a model listing; entries without one are left out. Throws ProviderError if there is no list. */
export function readModelIds(entries: unknown, idOf: (entry: JsonObject) => unknown): string[] {
  if (!Array.isArray(entries)) throw unreadableAnswer('a list of models', false)
  return asObjects(entries)
    .map((entry) => asName(idOf(entry)))
    .filter((id) => id !== null)
}
