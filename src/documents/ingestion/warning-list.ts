import type { ExtractionWarning } from './extraction.ts'

/** Bounds on what one document's warnings may hold; a list of 100 documents returns all of them. */
export const maximumWarnings = 20
export const maximumWarningPages = 100
const maximumMessageCharacters = 500

/**
 * Gathers an extraction's warnings. Those with the same code and message become one with all their pages, so that a message
 * should not name its page.
 */
export function createWarningList() {
  const entries = new Map<
    string,
    { warning: Omit<ExtractionWarning, 'pages'>; pages: Set<number>; morePages: number }
  >()
  let dropped = 0

  return {
    add({ code, message, pages = [] }: ExtractionWarning) {
      const shortened = message.slice(0, maximumMessageCharacters)
      const key = `${code} ${shortened}`
      let entry = entries.get(key)
      if (!entry && entries.size === maximumWarnings - 1) return void (dropped += 1)
      if (!entry) entries.set(key, (entry = { warning: { code, message: shortened }, pages: new Set(), morePages: 0 }))
      for (const page of pages) {
        if (entry.pages.size < maximumWarningPages) entry.pages.add(page)
        else if (!entry.pages.has(page)) entry.morePages += 1
      }
    },
    toArray(): ExtractionWarning[] {
      const warnings = Array.from(entries.values(), ({ warning, pages, morePages }): ExtractionWarning => {
        if (pages.size === 0) return warning
        const message = morePages > 0 ? `${warning.message} (${morePages} more pages are not listed.)` : warning.message
        return { ...warning, message, pages: [...pages].sort((a, b) => a - b) }
      })
      if (dropped > 0) warnings.push({ code: 'further_warnings', message: `${dropped} more warnings are not listed.` })
      return warnings
    },
  }
}
