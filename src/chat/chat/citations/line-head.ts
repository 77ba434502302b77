/**
 * The block structure of Markdown (CommonMark), as far as citations need it: which lines are code, and where a paragraph ends. No
 * code span crosses that end. Pure.
 */

export interface BlockState {
  /** Open block quotes and list items, outermost first. */
  readonly containers: readonly Container[]
  /** The previous line is part of a paragraph that this line may continue. */
  readonly paragraph: boolean
  readonly fence: Fence | null
}

type Container =
  | { kind: 'quote' }
  | { kind: 'item'; /** Columns from the outer content to the item's. */ indent: number }

interface Fence {
  character: string
  length: number
  /** Number of containers around the fence, which ends with them. */
  depth: number
}

export interface LineHead {
  state: BlockState
  code: boolean
  /** Index of the line's text after indentation, quote signs and list markers. */
  contentAt: number
  /** The line does not continue the paragraph before it. */
  startsBlock: boolean
  /** Headings and table rows: the next line cannot continue this one's text. */
  endsBlock: boolean
}

export const noBlocks: BlockState = { containers: [], paragraph: false, fence: null }

/** Longest beginning of a line that decides its kind, UTF-16 units; it bounds the look-ahead. */
export const maximumHeadLength = 400
const maximumContainers = 32
const codeIndent = 4
const tabWidth = 4

/** A position in the line: index and column, and the column at which the innermost container's content begins. */
interface Place {
  at: number
  column: number
  base: number
}

/**
 * Reads the head of `line` (without its newline). `whole`: no further text changes the result, because the line ends here or is
 * longer than any head. Null: more of the line is needed.
 */
export function readLineHead(line: string, whole: boolean, state: BlockState): LineHead | null {
  let place = skipSpaces(line, { at: 0, column: 0, base: 0 })
  let matched = 0
  for (; matched < state.containers.length; matched++) {
    const next = enter(line, place, state.containers[matched]!)
    if (!next) break
    place = skipSpaces(line, next)
  }
  if (place.at === line.length) return whole ? blankLine(state, matched, line.length) : null
  if (state.fence && matched >= state.fence.depth) return fencedLine(line, whole, place, state, state.fence)
  return openBlocks(line, whole, place, state, matched)
}

function skipSpaces(line: string, { at, column, base }: Place): Place {
  for (; at < line.length; at++) {
    const character = line[at]
    if (character === '\t') column += tabWidth - (column % tabWidth)
    else if (character === ' ' || character === '\r') column++
    else break
  }
  return { at, column, base }
}

/** The place inside the container; null where the line is outside of it. A blank line belongs to every list item. */
function enter(line: string, place: Place, container: Container): Place | null {
  if (container.kind === 'quote') return enterQuote(line, place)
  const base = place.base + container.indent
  return place.at === line.length || place.column >= base ? { ...place, base } : null
}

function enterQuote(line: string, { at, column, base }: Place): Place | null {
  if (line[at] !== '>' || column - base >= codeIndent) return null
  const space = line[at + 1] === ' ' || line[at + 1] === '\t' ? 1 : 0
  return { at: at + 1, column: column + 1, base: column + 1 + space }
}

function blankLine(state: BlockState, matched: number, contentAt: number): LineHead {
  const fence = state.fence && matched >= state.fence.depth ? state.fence : null
  return {
    state: { containers: state.containers.slice(0, matched), paragraph: false, fence },
    code: fence !== null,
    contentAt,
    startsBlock: true,
    endsBlock: true,
  }
}

function fencedLine(line: string, whole: boolean, place: Place, state: BlockState, fence: Fence): LineHead | null {
  const end = endOfRun(line, place.at, fence.character)
  if (end === line.length && !whole) return null
  const closes = end - place.at >= fence.length && place.column - place.base < codeIndent
  const rest = skipSpaces(line, { ...place, at: end }).at
  if (closes && rest === line.length && !whole) return null
  const ended = closes && rest === line.length
  return {
    state: { containers: state.containers, paragraph: false, fence: ended ? null : fence },
    code: true,
    contentAt: 0,
    startsBlock: true,
    endsBlock: true,
  }
}

/** Enters the quotes and list items that begin on this line, then decides the kind of the rest. */
function openBlocks(line: string, whole: boolean, start: Place, state: BlockState, matched: number): LineHead | null {
  let place = start
  const containers = state.containers.slice(0, matched)
  let continues = state.paragraph
  while (place.column - place.base < codeIndent && containers.length < maximumContainers) {
    const quote = enterQuote(line, place)
    const item = quote ? null : readListMarker(line, whole, place, continues && matched === state.containers.length)
    if (item === 'more') return null
    if (!quote && !item) break
    containers.push(quote ? { kind: 'quote' } : item!.container)
    continues = false
    place = skipSpaces(line, quote ?? item!.place)
    if (place.at === line.length && !whole) return null
  }
  const leaf = readLeaf(line, whole, place, continues)
  if (leaf === null) return null
  // A line that continues a paragraph may omit the signs of its containers.
  const kept = leaf === 'text' && continues ? state.containers : containers
  const fence = typeof leaf === 'object' ? { ...leaf, depth: kept.length } : null
  const code = leaf === 'code' || fence !== null
  return {
    state: { containers: kept, paragraph: leaf === 'text' || leaf === 'row', fence },
    code,
    contentAt: code ? 0 : place.at,
    startsBlock: !(continues && leaf === 'text'),
    endsBlock: code || leaf !== 'text',
  }
}

type Leaf = 'text' | 'code' | 'heading' | 'row' | Omit<Fence, 'depth'>

function readLeaf(line: string, whole: boolean, { at, column, base }: Place, continues: boolean): Leaf | null {
  if (column - base >= codeIndent && at < line.length) return continues ? 'text' : 'code'
  const character = line[at]
  if (character === '`' || character === '~') {
    const end = endOfRun(line, at, character)
    if (end === line.length && !whole) return null
    if (end - at < 3) return 'text'
    const fence = { character, length: end - at }
    if (character === '~') return fence
    if (line.includes('`', end)) return 'text'
    return whole ? fence : null
  }
  if (character === '#') {
    const end = endOfRun(line, at, '#')
    if (end === line.length && !whole) return null
    return end - at <= 6 && /^(?:\s|$)/.test(line.slice(end, end + 1)) ? 'heading' : 'text'
  }
  return character === '|' ? 'row' : 'text'
}

function readListMarker(
  line: string,
  whole: boolean,
  { at, column, base }: Place,
  interrupts: boolean,
): { container: Container; place: Place } | 'more' | null {
  const marker = /^(?:[-+*]|\d{1,9}[.)]?)/.exec(line.slice(at, at + 10))?.[0]
  if (marker === undefined) return null
  const end = at + marker.length
  if (end === line.length && !whole) return 'more'
  if (/\d$/.test(marker) || !/^(?:\s|$)/.test(line.slice(end, end + 1))) return null
  // An empty item, and a number other than 1, cannot interrupt a paragraph.
  if (interrupts && (end === line.length || (/^\d/.test(marker) && Number.parseInt(marker, 10) !== 1))) return null
  const content = skipSpaces(line, { at: end, column: column + marker.length, base })
  if (content.at === line.length && !whole) return 'more'
  const gap = content.column - column - marker.length
  const width = marker.length + (content.at === line.length || gap > codeIndent ? 1 : gap)
  const indent = column - base + width
  return {
    container: { kind: 'item', indent },
    place: { at: end, column: column + marker.length, base: base + indent },
  }
}

function endOfRun(line: string, from: number, character: string): number {
  let end = from
  while (line[end] === character) end++
  return end
}

/** Tokens of the scanner, in order. The texts and raw markers join to the scanned text. */
export type Token =
  | { type: 'text'; text: string }
  /** The end of a run of backticks, whose characters were already emitted as text. `opens` is shorter after a backslash. */
  | { type: 'run'; closes: number; opens: number }
  /** `isAttributed`: it was added. */
  | { type: 'marker'; raw: string; numbers: number[]; isAttributed?: true }
  /** No code span crosses it. */
  | { type: 'boundary' }

export type PlainToken = Exclude<Token, { type: 'run' | 'boundary' }>

/**
 * Longest code span that is recognised, UTF-16 units; in a longer one the opening backticks are text. It bounds the text that is held
 * back: from the first marker after an open backtick on.
 */
const maximumCodeSpanLength = 1_000
/** Most other runs of backticks in a code span, because each may be tried as an opening run. */
const maximumRunsInSpan = 32

/** `emitted`: the length of text that was already emitted; it counts towards the length of a span. */
type Queued = Token | { type: 'emitted'; length: number }

/** Turns markers in code spans into text. A run of backticks without an equal one in its paragraph is text (CommonMark). */
export function createCodeSpans(emit: (token: PlainToken) => void) {
  let open: { length: number; distance: number; runs: number } | null = null
  let queue: Queued[] = []
  let holds = false

  function push(token: Queued): void {
    if (!open) return pass(token)
    switch (token.type) {
      case 'boundary':
        // Each repetition turns one more opening run into text.
        giveUp()
        return push(token)
      case 'run':
        if (token.closes === open.length && open.distance - token.closes <= maximumCodeSpanLength) return close()
        queue.push(token)
        if (++open.runs > maximumRunsInSpan) giveUp()
        return
      case 'marker':
        holds = true
        queue.push(token)
        open.distance += token.raw.length
        break
      case 'text':
      case 'emitted':
        open.distance += token.type === 'text' ? token.text.length : token.length
        hold(token)
    }
    // A closing run begins within the longest span and is as long as the opening one.
    if (open.distance > maximumCodeSpanLength + open.length) giveUp()
  }

  /** Text is emitted at once while no marker waits: it is the same inside and outside of code. */
  function hold(token: Extract<Queued, { type: 'text' | 'emitted' }>) {
    if (holds) {
      queue.push(token)
      return
    }
    if (token.type === 'text') emit(token)
    const length = token.type === 'text' ? token.text.length : token.length
    const last = queue.at(-1)
    if (last?.type === 'emitted') last.length += length
    else queue.push({ type: 'emitted', length })
  }

  function pass(token: Queued): void {
    if (token.type === 'text' || token.type === 'marker') emit(token)
    else if (token.type === 'run' && token.opens > 0 && token.opens <= maximumCodeSpanLength) {
      open = { length: token.opens, distance: 0, runs: 0 }
    }
  }

  function close() {
    for (const token of take()) {
      if (token.type === 'text') emit(token)
      else if (token.type === 'marker') emit({ type: 'text', text: token.raw })
    }
  }

  /** The opening run becomes text; the runs after it may still open spans. */
  function giveUp() {
    for (const token of take()) push(token)
  }

  function take(): Queued[] {
    const taken = queue
    queue = []
    open = null
    holds = false
    return taken
  }

  return {
    push,
    end(): void {
      push({ type: 'boundary' })
    },
  }
}
