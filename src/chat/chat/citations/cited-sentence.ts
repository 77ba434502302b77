import { splitSentences } from '../../../platform/language/index.ts'

/** UTF-16 units of a sentence before its marker, and after it. */
const maximumBefore = 600
const maximumAfter = 300

/** What a marker supports. */
export interface CitedSentence {
  sentence: string
  /** The part of it between the row of markers before and this one. */
  part: string
}

const letterOrDigit = /[\p{L}\p{N}]/u

/** Follows the text of an answer and finds the sentence of each marker, whatever pieces the text arrives in. Time is linear in the text. */
export function createSentenceTracker() {
  let tail = ''
  /** UTF-16 units since the row of markers before. */
  let sinceRow = 0
  /** UTF-16 units without a letter since the last marker; null after text. Markers with only such text between them are one row. */
  let gap: number | null = null
  /** Texts after markers that are still shorter than `maximumAfter`. */
  let growing: { after: string }[] = []

  return {
    push(text: string): void {
      const begin = text.slice(0, maximumAfter)
      for (const marker of growing) marker.after = (marker.after + begin).slice(0, maximumAfter)
      growing = growing.filter(({ after }) => after.length < maximumAfter)
      tail += text.slice(-maximumBefore)
      if (gap !== null && letterOrDigit.test(text)) {
        sinceRow = gap
        gap = null
      }
      sinceRow += text.length
      if (gap !== null) gap += text.length
      // Cutting at twice the length keeps the time linear for a text that arrives in single characters.
      if (tail.length > 2 * maximumBefore) tail = tail.slice(-maximumBefore)
    },
    /** The sentence of a marker at the end of the text so far. Call the result after the end of the answer. */
    atMarker(): () => CitedSentence {
      const before = tail.slice(-maximumBefore)
      const partFrom = Math.max(0, before.length - sinceRow)
      gap = 0
      const marker = { after: '' }
      growing.push(marker)
      return () => joinSentence(before, marker.after, partFrom)
    },
  }
}

/**
 * A marker after a stop belongs to the sentence before it, a marker within a sentence to all of that sentence, and a marker at the
 * beginning of a line to the sentence after it.
 */
function joinSentence(before: string, after: string, partFrom: number): CitedSentence {
  const { inner, isComplete } = trimSentenceEnd(before)
  const isLead = lineStart.test(before.slice(before.lastIndexOf('\n') + 1)) && letterOrDigit.test(/^.*/.exec(after)![0])
  const known = isLead ? '' : inner
  const sentences = splitSentences(isComplete && !isLead ? known : known + after)
  const cited = sentences.findLast(({ from }) => from < known.length) ?? sentences[0]
  if (cited === undefined) return { sentence: '', part: '' }
  const sentence = trimSentenceEnd(cited.text).inner
  const part = known.slice(Math.max(cited.from, partFrom))
  return { sentence, part: letterOrDigit.test(part) ? part : sentence }
}

/** Of a line: nothing but the sign of a list item. */
const lineStart = /^\s*(?:[-*+•>#|]+\s+|\d{1,3}[.)]\s+)*$/u

/** A text without the stop, the quotes and the white space at its end. `isComplete`: there was a stop. */
export function trimSentenceEnd(before: string): { inner: string; isComplete: boolean } {
  const body = before.trimEnd()
  const isComplete = /(?:[.!?…]["'”’»)]{0,4}|[。！？])$/u.test(body)
  return { inner: isComplete ? body.replace(/[.!?…。！？"'”’»)]{1,20}$/u, '') : body, isComplete }
}
