import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObjects, decodeJsonObject } from '../wire-json.ts'

/** Ids of `GET /v1/models`. */
export function fromModelList(body: Uint8Array): string[] {
  const list = decodeJsonObject(body)
  if (!list || !Array.isArray(list.data)) throw unreadableAnswer('a model list', false)
  return asObjects(list.data)
    .map((model) => asName(model.id))
    .filter((id) => id !== null)
}
