import { unreadableAnswer } from '../wire-failure.ts'
import { asObjects, asString, decodeJsonObject } from '../wire-json.ts'

/** Ids of `GET /v1beta/models`, including models without chat and embeddings. */
export function fromModelList(body: Uint8Array): string[] {
  const list = decodeJsonObject(body)
  if (!list || !Array.isArray(list.models)) throw unreadableAnswer('a model list', false)
  return asObjects(list.models)
    .map((model) => asString(model.name).replace(/^models\//, ''))
    .filter((id) => id !== '')
}
