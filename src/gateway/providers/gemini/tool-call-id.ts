import { asName, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'

/**
 * Gemini often gives calls no id, yet requires the tool's name in a result and, from Gemini 3 on, the signature of the thought that led to
 * the call. Our ids contain all three; they are opaque to every other component.
 */
interface ToolCallIdentity {
  name: string
  /** The wire's id, if there is one. */
  wireId: string | null
  signature: string | null
}

const prefix = 'gemini.'

/** `responseId` and `index` distinguish calls of different answers. */
export function encodeToolCallId(part: JsonObject, call: JsonObject, responseId: string, index: number): string {
  const identity = {
    n: asString(call.name),
    w: asName(call.id),
    s: asName(part.thoughtSignature),
    r: responseId,
    i: index,
  }
  return prefix + Buffer.from(JSON.stringify(identity)).toString('base64url')
}

/** Null for an id of another provider. */
export function decodeToolCallId(id: string): ToolCallIdentity | null {
  if (!id.startsWith(prefix)) return null
  const identity = parseJsonObject(Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8'))
  if (!identity) return null
  return { name: asString(identity.n), wireId: asName(identity.w), signature: asName(identity.s) }
}
