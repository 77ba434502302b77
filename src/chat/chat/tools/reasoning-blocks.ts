/** Tags in which models behind hosts without a separate field write what they think before they answer. */
const opening = /^\s*<(think|thinking|thought|reasoning)>/i
/** What may still become one of them. */
const mayOpen = /^\s*(?:<[a-z]{0,9})?$/i

/**
 * Removes the blocks of reasoning at the beginning of a model's turn, however the stream cuts them; one that never ends is removed to the end.
 * Later in the text the same words are left alone: an answer may speak about them.
 */
export function createReasoningRemoval() {
  /** Text that is not decided yet; inside a block, its last characters. */
  let held = ''
  let closing: string | null = null
  let hasRemoved = false
  let hasBegun = false

  function decide(): string {
    for (;;) {
      if (closing !== null) {
        const end = held.toLowerCase().indexOf(closing)
        if (end === -1) {
          held = held.slice(-(closing.length - 1))
          return ''
        }
        held = held.slice(end + closing.length)
        closing = null
        hasRemoved = true
      }
      if (hasRemoved) held = held.trimStart()
      const found = opening.exec(held)
      if (!found) break
      closing = `</${found[1]!.toLowerCase()}>`
      held = held.slice(found[0].length)
    }
    if (mayOpen.test(held)) return ''
    hasBegun = true
    const text = held
    held = ''
    return text
  }

  return {
    push(text: string): string {
      if (hasBegun || text === '') return text
      held += text
      return decide()
    },
    /** The rest, at the end of the turn. */
    end(): string {
      const rest = closing === null ? held : ''
      held = ''
      return rest
    },
  }
}
