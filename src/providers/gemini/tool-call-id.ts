import { asName, asString, type JsonObject, parseJsonObject } from '../wire-json.ts'

/**
 * Gemini often names no call, yet wants back the name of the tool beside a result and, from Gemini 3 on, the signature of
 * the thought that led to the call. Our ids are opaque to everybody else, so they carry all three.
 */
interface ToolCallIdentity {
  name: string
  /** The wire's own id, where it gave one. */
  wireId: string | null
  signature: string | null
}

const prefix = 'gemini.'

/** `responseId` and `index` keep calls of different answers apart. */
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

/** Null for an id that another provider made. */
export function decodeToolCallId(id: string): ToolCallIdentity | null {
  if (!id.startsWith(prefix)) return null
  const identity = parseJsonObject(Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8'))
  if (!identity) return null
  return { name: asString(identity.n), wireId: asName(identity.w), signature: asName(identity.s) }
}
