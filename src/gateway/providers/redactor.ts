import type { ProviderSettings } from './port.ts'
import { asMessage } from './wire-json.ts'

/** Longest provider message that is passed on, in characters; longer ones mostly quote the request. */
const maximumMessageCharacters = 2000
/** A shorter literal is not a secret; redacting it would remove ordinary words. */
const minimumSecretCharacters = 6

/** Patterns of keys and tokens of any provider: an error text may quote the key of another account. */
const secretShapes: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|pplx|csk|r8|hf|ptc)[-_][A-Za-z0-9_-]{12,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\b(?:AKIA|ASIA|ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{12,}/g,
  /\bya29\.[A-Za-z0-9_.-]{10,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]

/** Removes an account's secrets, and anything with the pattern of a secret, from a provider's message. */
export type Redact = (text: string) => string

export function createRedactor(settings: ProviderSettings): Redact {
  const literals = literalSecrets(settings)
  return (text) => {
    let clean = asMessage(text)
    for (const literal of literals) clean = clean.replaceAll(literal, '[secret]')
    for (const shape of secretShapes) clean = clean.replace(shape, '[secret]')
    return clean.length > maximumMessageCharacters ? `${clean.slice(0, maximumMessageCharacters)}…` : clean
  }
}

function literalSecrets(settings: ProviderSettings): string[] {
  const pieces = [settings.apiKey, ...Object.values(settings.headers ?? {}), settings.credentials]
  // AWS: access key, secret key and session token are one setting, separated by colons.
  if (settings.credentials && !settings.credentials.trimStart().startsWith('{')) {
    pieces.push(...settings.credentials.split(':'))
  }
  const secrets = pieces.filter((piece) => piece !== undefined && piece.length >= minimumSecretCharacters)
  return [...new Set(secrets as string[])].sort((left, right) => right.length - left.length)
}
