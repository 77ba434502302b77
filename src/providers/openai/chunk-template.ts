import { asObject, asObjects, type JsonObject } from '../wire-json.ts'

/** What stands in a chunk that has the template's form. */
export interface MatchedChunk {
  /** The JSON string literal of the visible text, quotes included. */
  contentJson: string
  /** UTF-8 bytes of the literal's inside; escapes count as they stand, so this bounds the text's own bytes. */
  outputBytes: number
  /** Position behind the chunk. */
  end: number
}

/**
 * The fast path. Chunks of one stream are the same text but for the words in them (and padding), so the first one that was parsed and
 * found to carry visible text and nothing else becomes a template: the fixed pieces around its holes. A later chunk
 * that has the very same fixed pieces means the same by construction, and only the end of its literal has to be found.
 * Whatever differs in any other byte (a finish reason, usage, an error, a tool call) does not match and is parsed.
 */
export interface ChunkTemplate {
  /** `fixed[0]` hole `fixed[1]` …; the quotes of the holes belong to the fixed pieces. */
  fixed: string[]
  holes: Hole[]
}

type Hole = 'content' | 'padding'

/** Fields that hosts fill with noise against traffic analysis: OpenAI's and Mistral's. */
const paddingFields = ['obfuscation', 'p'] as const

/** Learns from a chunk that was parsed; null where it holds more than visible text. `json` is its text. */
export function learnTemplate(json: string, chunk: JsonObject): ChunkTemplate | null {
  const content = onlyContent(chunk)
  if (content === null) return null
  const contentHole = findHole(json, 'content', content)
  if (!contentHole) return null
  const holes: { kind: Hole; start: number; end: number }[] = [{ kind: 'content', ...contentHole }]
  for (const field of paddingFields) {
    const value = chunk[field]
    if (typeof value !== 'string') continue
    const hole = findHole(json, field, value)
    if (!hole) return null
    holes.push({ kind: 'padding', ...hole })
  }
  holes.sort((left, right) => left.start - right.start)
  const fixed: string[] = []
  let from = 0
  for (const hole of holes) {
    fixed.push(json.slice(from, hole.start))
    from = hole.end
  }
  fixed.push(json.slice(from))
  return { fixed, holes: holes.map((hole) => hole.kind) }
}

/** The visible text of a chunk that carries nothing else that anyone must see; null otherwise. */
function onlyContent(chunk: JsonObject): string | null {
  if (chunk.error || chunk.usage || chunk.x_groq) return null
  const choices = asObjects(chunk.choices)
  const [choice] = choices
  if (!choice || choices.length !== 1 || choice.index !== 0 || choice.finish_reason || choice.error || choice.usage)
    return null
  const { content, role, ...others } = asObject(choice.delta)
  if (typeof content !== 'string' || content === '') return null
  if (role !== undefined && role !== null && typeof role !== 'string') return null
  return Object.values(others).every(isEmpty) ? content : null
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Where the value of a field stands, without its quotes; undefined unless the name occurs once and the value is as parsed. */
function findHole(json: string, field: string, value: string): { start: number; end: number } | undefined {
  // Inside a string the quotes of a field name would be escaped, so an occurrence of this is a field.
  const name = `"${field}":`
  const found = json.indexOf(name)
  if (found === -1 || json.indexOf(name, found + 1) !== -1) return undefined
  let quote = found + name.length
  while (json[quote] === ' ') quote++
  if (json[quote] !== '"') return undefined
  const literal = scanLiteral(json, quote + 1)
  if (!literal || JSON.parse(json.slice(quote, literal.end + 1)) !== value) return undefined
  return { start: quote + 1, end: literal.end }
}

/** The chunk at `position` of `text`, where it has the form of the template; null otherwise. */
export function matchTemplate({ fixed, holes }: ChunkTemplate, text: string, position: number): MatchedChunk | null {
  if (!text.startsWith(fixed[0]!, position)) return null
  let at = position + fixed[0]!.length
  let contentJson = ''
  let outputBytes = 0
  for (let index = 0; index < holes.length; index++) {
    let end: number
    if (holes[index] === 'content') {
      const literal = scanLiteral(text, at)
      if (!literal) return null
      end = literal.end
      contentJson = text.slice(at - 1, end + 1)
      outputBytes = literal.bytes
      if (literal.escaped && !isValidLiteral(contentJson)) return null
    } else {
      end = text.indexOf('"', at)
      if (end === -1 || hasEscape(text, at, end)) return null
    }
    const next = fixed[index + 1]!
    if (!text.startsWith(next, end)) return null
    at = end + next.length
  }
  return { contentJson, outputBytes, end: at }
}

const quote = 0x22
const backslash = 0x5c

/** Follows a JSON string from behind its opening quote; null where it does not end or holds a bare control character. */
function scanLiteral(text: string, from: number): { end: number; bytes: number; escaped: boolean } | null {
  let bytes = 0
  let escaped = false
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) return { end: at, bytes, escaped }
    if (unit < 0x20) return null
    if (unit === backslash) {
      escaped = true
      at++
      bytes++
    }
    // A surrogate pair is two units of three bytes here and four in truth: a bound.
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
  }
  return null
}

/** Escapes can be malformed; such a literal must not reach a client's parser. */
function isValidLiteral(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

function hasEscape(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    if (unit === backslash || unit < 0x20) return true
  }
  return false
}
