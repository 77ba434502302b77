/** Tags in which models behind hosts without a separate field write what they think before they answer. */
const opening = /^<(think|thinking|thought|reasoning)>/i
/** What may still become one of them. */
const mayOpen = /^(?:<[a-z]{0,9})?$/i
/** Units of the end of a block at most, where a piece of the stream cuts it. */
const longestCut = '</reasoning>'.length - 1

/**
 * Removes the blocks of reasoning at the beginning of a model's turn, however the stream cuts them; one that never ends is removed to the end.
 * Later in the text the same words are left alone: an answer may speak about them.
 */
export function createReasoningRemoval() {
  /** White space before what is held; that after a block is dropped. */
  let blank = ''
  /** Text that is not decided yet, from its first visible character on; inside a block, its last characters. */
  let held = ''
  let closing: RegExp | null = null
  let hasRemoved = false
  let hasBegun = false

  function take(): string {
    const text = blank + held
    blank = ''
    held = ''
    return text
  }

  function decide(): string {
    for (;;) {
      if (closing !== null) {
        const end = closing.exec(held)
        if (!end) {
          held = held.slice(-longestCut)
          return ''
        }
        held = held.slice(end.index + end[0].length)
        closing = null
        blank = ''
        hasRemoved = true
      }
      const visible = held.trimStart()
      if (!hasRemoved) blank += held.slice(0, held.length - visible.length)
      held = visible
      const found = opening.exec(held)
      if (!found) break
      closing = new RegExp(`</${found[1]!}>`, 'i')
      held = held.slice(found[0].length)
    }
    if (mayOpen.test(held)) return ''
    hasBegun = true
    return take()
  }

  return {
    push(text: string): string {
      if (hasBegun || text === '') return text
      held += text
      return decide()
    },
    /** The rest, at the end of the turn. */
    end(): string {
      return closing === null ? take() : ''
    },
  }
}
