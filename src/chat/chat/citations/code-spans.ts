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
export const maximumCodeSpanLength = 1_000
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
