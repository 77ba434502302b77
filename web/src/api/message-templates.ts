/**
 * Finds the translation of a sentence of the API. A template is the sentence with `{name}` for each value that it names; its
 * translation has the values that it needs by the same names.
 */

interface Template {
  /** The text around the values. */
  literals: string[]
  names: string[]
  translation: string
}

const placeholder = /\{(\w+)\}/g

/** Templates with more text come first: `There is no model {id}.` before one that is more general. */
export function readTemplates(translations: Record<string, string>): Template[] {
  return Object.entries(translations)
    .map(([sentence, translation]) => ({
      literals: sentence.split(/\{\w+\}/),
      names: [...sentence.matchAll(placeholder)].map(([, name]) => name!),
      translation,
    }))
    .toSorted((left, right) => lengthOf(right) - lengthOf(left))
}

const lengthOf = ({ literals }: Template) => literals.reduce((sum, { length }) => sum + length, 0)

/** The translation of a sentence; undefined where no template fits. Linear in the sentence for each template. */
export function translate(templates: readonly Template[], sentence: string): string | undefined {
  for (const { literals, names, translation } of templates) {
    const values = readValues(sentence, literals)
    if (values) return translation.replace(placeholder, (_, name: string) => values[names.indexOf(name)] ?? '')
  }
  return undefined
}

/** What is between the literals, each taken as early as possible; undefined where the sentence has another form. */
function readValues(sentence: string, literals: readonly string[]): string[] | undefined {
  const [first = '', ...others] = literals
  if (!sentence.startsWith(first)) return undefined
  if (others.length === 0) return sentence === first ? [] : undefined
  const last = others.pop()!
  const end = sentence.length - last.length
  const values: string[] = []
  let at = first.length
  for (const literal of others) {
    const next = sentence.indexOf(literal, at)
    if (next < 0) return undefined
    values.push(sentence.slice(at, next))
    at = next + literal.length
  }
  if (end < at || !sentence.endsWith(last)) return undefined
  return [...values, sentence.slice(at, end)]
}
