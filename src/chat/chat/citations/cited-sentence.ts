import { splitSentences } from '../../../platform/language/index.ts'

/** UTF-16 units of a sentence before its marker, and after it. */
const maximumBefore = 600
const maximumAfter = 300

/** Returns the sentence that a marker supports. Call it after the end of the answer. */
export type CitedSentence = () => string

/** Follows the text of an answer and finds the sentence of each marker, whatever pieces the text arrives in. Time is linear in the text. */
export function createSentenceTracker() {
  let tail = ''
  /** Texts after markers that are still shorter than `maximumAfter`. */
  let growing: { after: string }[] = []

  return {
    push(text: string): void {
      const begin = text.slice(0, maximumAfter)
      for (const marker of growing) marker.after = (marker.after + begin).slice(0, maximumAfter)
      growing = growing.filter(({ after }) => after.length < maximumAfter)
      tail += text.slice(-maximumBefore)
      // Cutting at twice the length keeps the time linear for a text that arrives in single characters.
      if (tail.length > 2 * maximumBefore) tail = tail.slice(-maximumBefore)
    },
    /** The sentence of a marker at the end of the text so far. */
    atMarker(): CitedSentence {
      const before = tail.slice(-maximumBefore)
      const marker = { after: '' }
      growing.push(marker)
      return () => joinSentence(before, marker.after)
    },
  }
}

/** A marker after a stop belongs to the sentence before it, a marker within a sentence to all of that sentence. */
function joinSentence(before: string, after: string): string {
  const { inner, isComplete } = trimSentenceEnd(before)
  const sentences = splitSentences(isComplete ? inner : inner + after)
  const cited = sentences.findLast(({ from }) => from < inner.length) ?? sentences[0]
  return cited === undefined ? '' : trimSentenceEnd(cited.text).inner
}

/** A text without the stop, the quotes and the white space at its end. `isComplete`: there was a stop. */
export function trimSentenceEnd(before: string): { inner: string; isComplete: boolean } {
  const body = before.trimEnd()
  const isComplete = /(?:[.!?…]["'”’»)]{0,4}|[。！？])$/u.test(body)
  return { inner: isComplete ? body.replace(/[.!?…。！？"'”’»)]{1,20}$/u, '') : body, isComplete }
}
