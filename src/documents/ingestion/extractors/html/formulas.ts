/** Elements of MathML without content. */
const empty = new Set(['mspace', 'mprescripts', 'none', 'malignmark', 'maligngroup'])
const words = new Set(['mi', 'mtext', 'ms'])

/** Parts what would run together in the text of a formula (MathML): numerator and denominator, names next to each other, and its source. */
export function createFormulaSeparator() {
  /** From the formula to the open element, with the number of their elements so far. */
  const open: { name: string; elements: number }[] = []
  let last = ''
  return {
    /** What separates an element that opens from the text before it. */
    open(name: string): string {
      if ((name !== 'math' && open.length === 0) || empty.has(name)) return ''
      const parent = open.at(-1)
      if (parent) parent.elements += 1
      open.push({ name, elements: 0 })
      const isBehindWord = words.has(name) && words.has(last)
      last = name
      if (parent?.name === 'mfrac' && parent.elements === 2) return '/'
      return isBehindWord || name.startsWith('annotation') ? ' ' : ''
    },
    close(name: string) {
      if (open.at(-1)?.name === name) open.pop()
      if (name !== 'math') return
      open.length = 0
      last = ''
    },
  }
}
