import type { Segment } from './segment.ts'

/** An initial is at least this many times as high as the text next to it. */
const leastHeight = 2
/** Its text begins within this distance behind it, in heights of the text. */
const maximumGap = 0.8
/** A page with more single large letters shows something else. */
const maximumInitials = 40

/** Puts large first letters of paragraphs (drop caps), which programs draw apart, into the first of the lines next to them. */
export function withInitials(segments: Segment[]): Segment[] {
  const initials = segments.filter(({ text }) => text.length <= 2 && /^\p{Lu}$/u.test(text))
  if (initials.length === 0 || initials.length > maximumInitials) return segments
  const joined = new Map<Segment, Segment | null>()
  for (const initial of initials) {
    const lines = segments.filter((segment) => isNextTo(segment, initial))
    if (lines.length < 2) continue
    const first = lines.reduce((one, other) => (other.top > one.top ? other : one))
    if (joined.has(first) || !/^\p{L}/u.test(first.text)) continue
    joined.set(initial, null)
    joined.set(first, {
      ...first,
      text: initial.text + first.text,
      left: initial.left,
      characters: initial.characters.concat(first.characters),
    })
  }
  return segments.flatMap((segment) => {
    const other = joined.get(segment)
    return other === undefined ? [segment] : other === null ? [] : [other]
  })
}

function isNextTo(segment: Segment, initial: Segment): boolean {
  const gap = segment.left - initial.right
  const middle = (segment.top + segment.bottom) / 2
  return (
    initial.size >= segment.size * leastHeight &&
    gap > -segment.size * maximumGap &&
    gap < segment.size * maximumGap &&
    middle < initial.top &&
    middle > initial.bottom
  )
}
