/**
 * Longest text of a turn, in UTF-16 units, that waits until it is known whether the turn calls tools: what models write before a call is
 * one or two sentences about what they will do. Longer text is an answer, and a reader of a stream should not wait for its end.
 */
export const heldOfStream = 400

/** Holds the text of a turn back until it is too long to be the beginning of a tool call, or the turn has ended. */
export function createTurnHold(mostHeld: number) {
  let held = ''
  let isReleased = mostHeld === 0
  let isDropped = false
  return {
    /** Returns the text that may be passed on. After a tool call there is none. */
    push(text: string, { callsTools }: { callsTools: boolean }): string {
      isDropped ||= callsTools
      if (isDropped) return ''
      if (isReleased) return text
      held += text
      if (held.length <= mostHeld) return ''
      isReleased = true
      return held
    },
    /** What is still held, at the end of a turn. */
    end: (): string => (isReleased || isDropped ? '' : held),
  }
}
