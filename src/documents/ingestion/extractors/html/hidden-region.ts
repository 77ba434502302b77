import type { HtmlAttribute } from './tokenizer.ts'

/** Elements whose end tag authors leave out: what contains them, and the elements whose beginning ends them. */
const optionalEnds: Readonly<Record<string, { containers: readonly string[]; siblings: readonly string[] }>> = {
  li: { containers: ['ul', 'ol', 'menu'], siblings: ['li'] },
  dt: { containers: ['dl'], siblings: ['dt', 'dd'] },
  dd: { containers: ['dl'], siblings: ['dt', 'dd'] },
  td: { containers: ['table'], siblings: ['td', 'th', 'tr', 'tbody', 'tfoot'] },
  th: { containers: ['table'], siblings: ['td', 'th', 'tr', 'tbody', 'tfoot'] },
  tr: { containers: ['table'], siblings: ['tr', 'tbody', 'tfoot'] },
}
/** A paragraph contains none of these, so that their beginning or end ends it. */
const endsParagraph =
  /^(?:address|article|aside|blockquote|body|details|div|d[ldt]|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|menu|nav|[ou]l|p|pre|section|t[dhr]|table|tbody)$/

/** True for an element that no browser shows. Other styles can be undone by an element within it. */
export function isHidden(attribute: HtmlAttribute): boolean {
  const hidden = attribute('hidden')
  // Browsers show such text when a reader searches for it.
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true
  return /(?:^|;)\s*display\s*:\s*none/i.test(attribute('style') ?? '')
}

/** An element that is hidden, while its content is read. */
export function createHiddenRegion(name: string) {
  const ends = Object.hasOwn(optionalEnds, name) ? optionalEnds[name]! : null
  let depth = 1
  return {
    /** Returns false where the tag is behind the region. */
    open(opened: string): boolean {
      if (name === 'p') return !endsParagraph.test(opened)
      if (!ends) {
        if (opened === name) depth += 1
        return true
      }
      if (depth === 1 && ends.siblings.includes(opened)) return false
      if (ends.containers.includes(opened)) depth += 1
      return true
    },
    /** Returns false where the tag ends the region. */
    close(closed: string): boolean {
      if (name === 'p') return !endsParagraph.test(closed)
      if (!ends) {
        if (closed === name) depth -= 1
        return depth > 0
      }
      if (ends.containers.includes(closed)) depth -= 1
      return depth > 0 && !(depth === 1 && closed === name)
    },
  }
}
