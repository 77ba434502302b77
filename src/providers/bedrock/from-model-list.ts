import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObjects, decodeJsonObject } from '../wire-json.ts'

/** Ids of ListFoundationModels. Inference profiles (`eu.…`, `us.…`) have a separate list and are not included. */
export function fromModelList(body: Uint8Array): string[] {
  const list = decodeJsonObject(body)
  if (!list || !Array.isArray(list.modelSummaries)) throw unreadableAnswer('a model list', false)
  return asObjects(list.modelSummaries)
    .map((model) => asName(model.modelId))
    .filter((id) => id !== null)
}
