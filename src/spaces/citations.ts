/**
 * Makes the markers that leave true: whatever the model writes as `[n]` must name a passage it was given. Passages carry
 * numbers of their own in the prompt; readers see documents, numbered from 1 in order of first use.
 */

export interface CitedSource {
  documentId: string
  title: string
  url: string | null
}

export interface CitationRewriter {
  /** The part of the text so far that is safe to show; a marker that may still be incomplete is kept back. */
  push(text: string): string
  /** What was kept back. */
  end(): string
  /** Cited documents in order of first use; their place + 1 is the marker's number. */
  cited(): CitedSource[]
}

/** Longest text that can still become a marker: `[12, 34, 56, 78]`; a longer one is ordinary text. */
const maximumMarkerLength = 40
const markerPattern = /^[[【]\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*[\]】]$/
const openingPattern = /^[[【][\s\d,;]*$/

/**
 * `sources[n - 1]` is the document of the passage that the prompt calls n. With `inline` off every marker is cut out. A marker
 * that names no passage is cut out with the space before it. Code between backticks is left as it is.
 */
export function createCitationRewriter(
  sources: readonly CitedSource[],
  { inline }: { inline: boolean },
): CitationRewriter {
  const cited: CitedSource[] = []
  let pending = ''
  let inCode = false
  let lastShown = ''
  /** Spaces of a marker that was cut out; they return when the next marker follows at once. */
  let heldSpaces = ''

  function numberOf(source: CitedSource): number {
    const index = cited.findIndex((known) => known.documentId === source.documentId)
    return index === -1 ? cited.push(source) : index + 1
  }

  function rewriteMarker(marker: string): string {
    if (!inline) return ''
    let text = ''
    for (const digits of marker.match(/\d+/g) ?? []) {
      const source = sources[Number(digits) - 1]
      if (!source) continue
      const shown = `[${numberOf(source)}]`
      // Two passages of one document side by side are one citation.
      if (!text.includes(shown) && !(text === '' && lastShown === shown)) text += shown
    }
    return text
  }

  function show(output: string, piece: string): string {
    if (piece !== '') lastShown = piece
    return output + piece
  }

  function drain(text: string, atEnd: boolean): string {
    let output = ''
    let rest = text
    while (rest !== '') {
      const character = rest[0]!
      if (character === '`') {
        inCode = !inCode
        heldSpaces = ''
        output = show(output, character)
        rest = rest.slice(1)
        continue
      }
      // Spaces are held back with what may follow them: a marker that is cut out takes its space along.
      const spaces = /^ */.exec(rest)![0]
      const candidate = rest.slice(spaces.length)
      if (!inCode && (candidate === '' || candidate[0] === '[' || candidate[0] === '【')) {
        const close = candidate.search(/[\]】]/)
        const whole = close === -1 ? candidate : candidate.slice(0, close + 1)
        if (
          !atEnd &&
          close === -1 &&
          whole.length <= maximumMarkerLength &&
          (whole === '' || openingPattern.test(whole))
        ) {
          pending = rest
          return output
        }
        if (close !== -1 && markerPattern.test(whole)) {
          const marker = rewriteMarker(whole)
          const gap = spaces === '' ? heldSpaces : spaces
          heldSpaces = marker === '' ? gap : ''
          if (marker !== '') output = show(show(output, gap), marker)
          rest = candidate.slice(close + 1)
          continue
        }
      }
      heldSpaces = ''
      const next = Math.max(1, spaces.length)
      const stop = rest.slice(next).search(/[ `[【]/)
      const piece = stop === -1 ? rest : rest.slice(0, next + stop)
      output = show(output, piece)
      rest = rest.slice(piece.length)
    }
    pending = ''
    return output
  }

  return {
    push(text) {
      const all = pending + text
      pending = ''
      return drain(all, false)
    },
    end() {
      const all = pending
      pending = ''
      return drain(all, true)
    },
    cited: () => [...cited],
  }
}
