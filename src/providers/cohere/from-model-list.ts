import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObjects, decodeJsonObject } from '../wire-json.ts'

/** Ids of `GET /v1/models`, including models without chat and embeddings. */
export function fromModelList(body: Uint8Array): string[] {
  const list = decodeJsonObject(body)
  if (!list || !Array.isArray(list.models)) throw unreadableAnswer('a model list', false)
  return asObjects(list.models)
    .map((model) => asName(model.name))
    .filter((id) => id !== null)
}
