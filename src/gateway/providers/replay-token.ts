import { type ProviderFormat, providerFormats } from '../../contract/provider-formats.ts'
import type { ReasoningReplay } from './port.ts'
import { asObjects, parseJsonObject } from './wire-json.ts'

/** Marks a text that stands for the reasoning of another provider's format. */
const prefix = 'portico.'
/** Longest token, in characters: the reasoning of the largest answers has about a tenth. */
const maximumTokenCharacters = 4_000_000
const maximumBlocks = 1_024

/**
 * Reasoning as one opaque text, for client APIs with a field for such a text (a signature, an encrypted content). Null if it is too long;
 * the model then reasons again.
 */
export function wrapReplay({ format, blocks }: ReasoningReplay): string | null {
  const token = prefix + Buffer.from(JSON.stringify({ format, blocks })).toString('base64url')
  return token.length > maximumTokenCharacters ? null : token
}

/** The reasoning in a text of `wrapReplay`; null for another text. A client can forge it, so only adapters of its format use it. */
export function unwrapReplay(token: string): ReasoningReplay | null {
  if (!token.startsWith(prefix) || token.length > maximumTokenCharacters) return null
  const value = parseJsonObject(Buffer.from(token.slice(prefix.length), 'base64url').toString('utf8'))
  const format = providerFormats.find((known): known is ProviderFormat => known === value?.format)
  const blocks = asObjects(value?.blocks)
  if (format === undefined || blocks.length === 0 || blocks.length > maximumBlocks) return null
  return { format, blocks }
}
