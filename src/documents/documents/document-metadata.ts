import { maximumMetadataBytes } from '../../contract/documents.ts'
import { readJson } from '../../platform/bodies/index.ts'
import { toWebUrl, invalidField } from '../../platform/kernel/index.ts'

/**
 * Metadata is stored as the client's JSON text. JavaScript values would lose digits of large numbers, the order of integer-like keys,
 * and `__proto__`. Only white space between tokens and optional escapes in strings are not kept.
 */
export interface Metadata {
  /** The text of a JSON object. */
  json: string
  /** metadata.url if it is a valid link. */
  sourceUrl: string | null
  /** metadata.path if it is a text: the folder of a file that was uploaded with its folder. */
  path: string | null
}

/** Longest path that lists show, in UTF-16 code units. */
const maximumPathLength = 1024

/** The field may have white space and duplicate members in addition to the 16 KiB. */
const limits = { shape: {}, maximumValues: 20_000, read: (value: unknown) => value }

/** Parses the metadata of an upload or a PATCH body. Throws AppError with the field. */
export function readMetadata(text: string, field = 'metadata'): Metadata {
  const invalid = (what: string) => invalidField(field, `${field}: ${what}`)
  const value = readJson(Buffer.from(text), { ...limits, field })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('must be a JSON object.')
  const json = canonicalText(text)
  if (Buffer.byteLength(json) > maximumMetadataBytes) {
    throw invalid(`at most ${maximumMetadataBytes} bytes of JSON, white space between its parts not counted.`)
  }
  const { url, path } = value as Record<string, unknown>
  return { json, sourceUrl: readSourceUrl(url), path: readPath(path) }
}

/** The texts of the members of a valid JSON object; of several members with one name the last one, as in JSON.parse. */
export function memberTexts(objectText: string): Map<string, string> {
  const members = new Map<string, string>()
  let depth = 0
  let collected: string[] | undefined
  let key: string | undefined
  for (const [token] of objectText.matchAll(tokenPattern)) {
    const opens = token === '{' || token === '['
    const closes = token === '}' || token === ']'
    if (closes) depth--
    const isBetweenMembers = depth === (closes ? 0 : 1) && (closes || token === ',')
    if (isBetweenMembers) {
      if (key !== undefined && collected) members.set(key, collected.join(''))
      collected = key = undefined
    } else if (collected) collected.push(token)
    else if (depth === 1 && token === ':') collected = []
    else if (depth === 1 && key === undefined && token.startsWith('"')) key = JSON.parse(token) as string
    if (opens) depth++
  }
  return members
}

/** Strings (unrolled, so that long ones need no backtracking), punctuation, and literals. */
const tokenPattern = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs

/** Removes white space and escapes strings as JSON.stringify does; everything else stays unchanged. */
function canonicalText(text: string): string {
  let canonical = ''
  for (const [token] of text.matchAll(tokenPattern)) {
    canonical += token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token
  }
  return canonical
}

/** A link for citations. */
function readSourceUrl(url: unknown): string | null {
  return typeof url === 'string' ? toWebUrl(url) : null
}

function readPath(path: unknown): string | null {
  const isShown = typeof path === 'string' && path !== '' && path.length <= maximumPathLength
  return isShown && !path.includes('\u0000') && path.isWellFormed() ? path : null
}
