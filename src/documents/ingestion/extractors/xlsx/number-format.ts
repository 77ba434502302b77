import { formatDate, isDatePattern } from './date-format.ts'
import { formatDigits } from './digit-format.ts'
import type { Section } from './format-section.ts'

/**
 * Values of cells as Excel shows them: https://support.microsoft.com/office/5026bbd6-04bc-48cd-bf33-80f18b4eae68. What is not
 * understood is shown as the plain number.
 */

/** Longest code that is read; Excel writes 255 characters. */
const maximumCode = 1_000

export type NumberFormat = (value: number) => string

export function compileFormat(code: string, date1904: boolean): NumberFormat {
  if (code === '' || /^(?:general|@)$/i.test(code) || code.length > maximumCode) return plainNumber
  const sections = splitSections(code)
  return (value) => {
    const chosen = chooseSection(sections, value)
    if (!chosen) return plainNumber(value)
    const { section, magnitude } = chosen
    if (section.isDate) return formatDate(value, section, date1904) ?? plainNumber(value)
    return formatDigits(magnitude, section.tokens) ?? plainNumber(magnitude)
  }
}

/** 15 digits, which is what Excel keeps. */
export function plainNumber(value: number): string {
  return String(Number(value.toPrecision(15))).toUpperCase()
}

function splitSections(code: string): Section[] {
  const sections = [newSection()]
  for (const [whole, quoted, escaped, space, bracket] of code.matchAll(
    /"([^"]*)"?|\\(.?)|([_*]).?|\[([^\]]*)\]|General|AM\/PM|A\/P|E[+-]|[^]/giu,
  )) {
    const section = sections.at(-1)!
    const literal = quoted ?? escaped ?? (space === '_' ? ' ' : undefined)
    if (literal !== undefined) section.tokens.push({ kind: 'literal', text: literal })
    else if (bracket !== undefined) readBracket(section, bracket)
    else if (whole === ';') sections.push(newSection())
    else if (space === undefined) section.tokens.push({ kind: 'code', text: whole })
  }
  for (const section of sections) section.isDate = isDatePattern(section.tokens)
  return sections
}

function newSection(): Section {
  return { tokens: [], condition: null, isDate: false, language: 0 }
}

function readBracket(section: Section, bracket: string) {
  const currency = /^\$([^-]*)(?:-([\da-f]+))?/i.exec(bracket)
  const condition = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(bracket)
  if (currency) {
    section.language = Number.parseInt(currency[2] ?? '0', 16)
    if (currency[1]) section.tokens.push({ kind: 'literal', text: currency[1] })
  } else if (condition) section.condition = { operator: condition[1]!, value: Number(condition[2]) }
  else if (/^(?:h+|m+|s+)$/i.test(bracket)) section.tokens.push({ kind: 'elapsed', text: bracket.toLowerCase() })
}

/** The section for a value, and the number that it shows: only a section for negative numbers leaves the sign out. */
function chooseSection(sections: Section[], value: number): { section: Section; magnitude: number } | null {
  const numeric = sections.slice(0, 3)
  if (numeric.some(({ condition }) => condition)) {
    const section = numeric.find(({ condition }) => !condition || meets(value, condition))
    return section ? { section, magnitude: value } : null
  }
  const [first, second, third] = numeric
  if (value < 0 && second) return { section: second, magnitude: -value }
  if (value === 0 && third) return { section: third, magnitude: value }
  return first ? { section: first, magnitude: value } : null
}

function meets(value: number, { operator, value: bound }: NonNullable<Section['condition']>): boolean {
  switch (operator) {
    case '<':
      return value < bound
    case '<=':
      return value <= bound
    case '>':
      return value > bound
    case '>=':
      return value >= bound
    case '<>':
      return value !== bound
    default:
      return value === bound
  }
}
