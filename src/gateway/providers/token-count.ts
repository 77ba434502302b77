import { unreadableAnswer } from './wire-failure.ts'
import { asCount, decodeJsonObject } from './wire-json.ts'

/** Reads the answer of an endpoint that counts a prompt. Throws ProviderError. */
export const readTokenCount =
  (field: string) =>
  (body: Uint8Array): number => {
    const tokens = asCount(decodeJsonObject(body)?.[field])
    if (tokens === undefined) throw unreadableAnswer('a count', true)
    return tokens
  }
