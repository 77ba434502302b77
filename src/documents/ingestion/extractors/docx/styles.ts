import { readWholeXml } from '../office-xml.ts'
import { wordKind } from './word-kind.ts'

/** The structure that a paragraph style gives. */
export interface ParagraphStyle {
  headingLevel: number | null
  isListItem: boolean
  isQuote: boolean
  isCode: boolean
  /** Its list and level there; null where it states none. */
  numId: string | null
  numLevel: number | null
  /** Itself and the styles that it is based on. */
  ids: readonly string[]
}

interface RawStyle {
  name: string
  basedOn: string | null
  outlineLevel: number | null
  numbered: boolean
  numId: string | null
  numLevel: number | null
}

/** Styles of a chain that are compared with a list's levels. */
const maximumStyleDepth = 20

const plain: ParagraphStyle = {
  headingLevel: null,
  isListItem: false,
  isQuote: false,
  isCode: false,
  numId: null,
  numLevel: null,
  ids: [],
}

/** Styles by id, with the properties they inherit. An id that is not defined gives no structure. */
export async function readStyles(pieces: AsyncIterable<string>): Promise<(id: string | null) => ParagraphStyle> {
  const raw = new Map<string, RawStyle>()
  let current: RawStyle | null = null
  await readWholeXml(
    pieces,
    {
      open(name, attribute) {
        if (name === 'w:style') {
          current = { name: '', basedOn: null, outlineLevel: null, numbered: false, numId: null, numLevel: null }
          raw.set(attribute('styleId') ?? '', current)
        } else if (!current) return
        else if (name === 'w:name') current.name = (attribute('val') ?? '').toLowerCase()
        else if (name === 'w:basedOn') current.basedOn = attribute('val') ?? null
        else if (name === 'w:outlineLvl') current.outlineLevel = Number(attribute('val'))
        else if (name === 'w:ilvl') current.numLevel = Number(attribute('val'))
        else if (name === 'w:numId') {
          current.numId = attribute('val') ?? '0'
          current.numbered = current.numId !== '0'
        }
      },
      close(name) {
        if (name === 'w:style') current = null
      },
    },
    wordKind,
  )
  const resolved = new Map<string, ParagraphStyle>()
  return (id) => {
    if (id === null) return plain
    const known = resolved.get(id)
    if (known) return known
    const style = resolveStyle(id, raw)
    resolved.set(id, style)
    return style
  }
}

function resolveStyle(id: string, raw: Map<string, RawStyle>): ParagraphStyle {
  const result = { ...plain }
  const seen = new Set<string>()
  for (let next: string | null = id; next !== null && !seen.has(next);) {
    seen.add(next)
    const style: RawStyle | undefined = raw.get(next)
    // Where the styles part is missing or foreign, the id itself still shows it (Heading1, berschrift1 have no name then).
    const name: string = style?.name ?? next.toLowerCase()
    result.numId ??= style?.numId ?? null
    result.numLevel ??= style?.numLevel ?? null
    result.headingLevel ??= headingLevel(name, style?.outlineLevel ?? null)
    result.isListItem ||= style?.numbered ?? name.startsWith('list')
    result.isListItem ||= /^list (bullet|number|paragraph)/.test(name)
    result.isQuote ||= /quote/.test(name)
    result.isCode ||= /code|preformatted/.test(name)
    next = style?.basedOn ?? null
  }
  if (result.headingLevel !== null) result.isListItem = false
  result.ids = [...seen].slice(0, maximumStyleDepth)
  return result
}

/** `heading 1` to `heading 6` and deeper, `title`, or an outline level (0..8; 9 is body text). */
function headingLevel(name: string, outlineLevel: number | null): number | null {
  const match = /^heading\s*(\d)$/.exec(name)
  if (match) return Math.min(6, Math.max(1, Number(match[1])))
  if (name === 'title') return 1
  if (outlineLevel !== null && outlineLevel >= 0 && outlineLevel <= 8) return Math.min(6, outlineLevel + 1)
  return null
}
