import type { TokenLogprob } from '../port.ts'
import { asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'

/** The probabilities in a choice, whole or of a chunk; undefined if there are none. */
export function readLogprobs(choice: JsonObject): TokenLogprob[] | undefined {
  const tokens = asObjects(asObject(choice.logprobs).content)
  if (tokens.length === 0) return undefined
  return tokens.map((token) => ({ ...readToken(token), top: asObjects(token.top_logprobs).map(readToken) }))
}

function readToken({ token, logprob, bytes }: JsonObject) {
  return {
    token: asString(token),
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes.map(Number) : null,
  }
}
