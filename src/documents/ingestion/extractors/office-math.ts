import type { Attribute } from './office-xml.ts'

/** A part of a formula while its elements are read. */
interface Part {
  name: string
  text: string
  /** Its arguments: numerator and denominator, base and exponent, cells of a matrix. */
  values: string[]
  /** Signs that its properties name, such as brackets. */
  signs: Map<string, string>
}

const parts = new Set(
  ['oMath', 'f', 'd', 'nary', 'rad', 'acc', 'm', 'mr', 'eqArr', 'func', 'limLow', 'limUpp'].map((name) => `m:${name}`),
)
const values = new Set(['num', 'den', 'e', 'deg', 'sub', 'sup', 'fName', 'lim'].map((name) => `m:${name}`))
const signs = new Set(['begChr', 'sepChr', 'endChr', 'chr', 'type'].map((name) => `m:${name}`))
/** Longer texts are put in brackets unread. */
const maximumOperand = 200
/** Of a sign or the name of a type, UTF-16 units. A separator is repeated between all arguments, so a long one would multiply. */
const maximumSign = 8

/**
 * Reads formulas of office files (Office Math) on one line, with the signs that programs draw for their elements: brackets, bars of fractions,
 * sums and roots. `append` gets each formula as a whole.
 */
export function createFormulaReader(append: (text: string) => void) {
  const open: Part[] = []
  return {
    open(name: string, attribute: Attribute) {
      const around = open.at(-1)
      if (name === 'm:oMath' || (around && (parts.has(name) || values.has(name))))
        open.push({ name, text: '', values: [], signs: new Map() })
      else if (around && signs.has(name)) around.signs.set(name, (attribute('val') ?? '').slice(0, maximumSign))
    },
    close(name: string) {
      const part = open.at(-1)
      if (part?.name !== name) return
      open.pop()
      const text = textOf(part)
      const around = open.at(-1)
      if (!around) append(text)
      else if (parts.has(around.name) && around.name !== 'm:oMath') around.values.push(text)
      else around.text += text
    },
    /** Takes the text if it is part of a formula. */
    take(text: string): boolean {
      const part = open.at(-1)
      if (part) part.text += text
      return part !== undefined
    },
  }
}

function textOf({ name, text, values: all, signs: given }: Part): string {
  const sign = (of: string, usual: string) => given.get(`m:${of}`) ?? usual
  switch (name) {
    case 'm:f':
      return given.get('m:type') === 'noBar' ? joined(all, ' ') : joined(all.map(operand), '/')
    case 'm:d':
      return sign('begChr', '(') + joined(all, sign('sepChr', '|')) + sign('endChr', ')')
    case 'm:nary':
      return sign('chr', '∫') + joined(all.filter(Boolean), ' ')
    case 'm:rad':
      return `${joined(all.slice(0, -1), '')}√${operand(all.at(-1) ?? '')}`
    case 'm:acc':
      return joined(all, '') + sign('chr', '\u0302')
    case 'm:m':
    case 'm:mr':
    case 'm:eqArr':
    case 'm:func':
    case 'm:limLow':
    case 'm:limUpp':
      return joined(all, ' ')
    default:
      return text
  }
}

/** Adds one text to the other: `Array.join` copies them, which takes the square of time where formulas are nested. */
function joined(texts: readonly string[], separator: string): string {
  return texts.reduce((all, text, index) => (index === 0 ? text : all + separator + text), '')
}

/** A text of several parts in brackets. */
function operand(text: string): string {
  return text.length <= maximumOperand && /^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`
}
