/** What the console and the hosted chat read in the Markdown of an answer. */

export const markerPattern = /\[[1-9]\d{0,3}\]/g

/** The index of each `[n]` in the text, with the number of those up to it: references count them so. */
export function countMarkers(text: string): Map<number, number> {
  const counts = new Map<string, number>()
  return new Map(
    [...text.matchAll(markerPattern)].map(({ 0: marker, index }) => {
      const count = (counts.get(marker) ?? 0) + 1
      counts.set(marker, count)
      return [index, count]
    }),
  )
}

/** Paragraphs that the following text does not change any more, and the rest. Fenced code is not divided. */
export function splitSettled(text: string): string[] {
  const parts: string[] = []
  let part = ''
  let fence = ''
  for (const line of text.split(/(?<=\n)/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined) {
      if (fence === '') fence = mark
      else if (mark.startsWith(fence)) fence = ''
    }
    part += line
    if (fence === '' && line.trim() === '' && part.trim() !== '') {
      parts.push(part)
      part = ''
    }
  }
  return part === '' ? parts : [...parts, part]
}
