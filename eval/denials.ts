/** The opposite of a true sentence in other words, by class. Every rule changes one thing, so that exactly one clause is reversed. */

const auxiliary = /\b(is|are|was|were|can|may|must|should|will|has|have|had|could|would)\b(?! not\b)/

/** The auxiliary belongs to the main clause. */
function isMainClause(text: string, at: number): boolean {
  return (
    at !== -1 &&
    at < 80 &&
    !/[,;:]|\b(?:that|which|who|whose|if|when|where|while|as|because|since|and|or)\b/i.test(text.slice(0, at))
  )
}

/** Pairs of words with opposite meanings; either replaces the other. */
const opposites: [string, string][] = [
  ['allowed', 'prohibited'],
  ['permitted', 'forbidden'],
  ['possible', 'impossible'],
  ['included', 'excluded'],
  ['includes', 'excludes'],
  ['include', 'exclude'],
  ['required', 'optional'],
  ['able', 'unable'],
  ['legal', 'illegal'],
  ['successful', 'unsuccessful'],
  ['accepted', 'rejected'],
  ['approved', 'denied'],
  ['increase', 'decrease'],
  ['increased', 'decreased'],
  ['increases', 'decreases'],
  ['higher', 'lower'],
  ['more', 'less'],
  ['most', 'least'],
  ['always', 'never'],
  ['with', 'without'],
  ['available', 'unavailable'],
  ['enabled', 'disabled'],
  ['enable', 'disable'],
  ['open', 'closed'],
  ['large', 'small'],
  ['largest', 'smallest'],
  ['high', 'low'],
  ['first', 'last'],
  ['before', 'after'],
  ['public', 'private'],
  ['common', 'rare'],
  ['necessary', 'unnecessary'],
]
const oppositeOf = new Map(opposites.flatMap(([left, right]) => [[left, right] as const, [right, left] as const]))
const oppositePattern = new RegExp(`\\b(?:${[...oppositeOf.keys()].join('|')})\\b`)

const verbs =
  'allows?|provides?|requires?|includes?|offers?|contains?|supports?|helps?|means|makes?|uses?|gives?|needs?|enables?|creates?|covers?|applies|apply|works?|begins?|ends?|shows?|causes?|plays?|pays?'
const verbPattern = new RegExp(`^((?:The |A |An |This |It |They |You )?[\\p{L}\\p{N}' -]{1,60}?) (${verbs}) `, 'u')

function base(verb: string): string {
  if (verb === 'means') return 'mean'
  return verb.endsWith('ies') ? `${verb.slice(0, -3)}y` : verb.replace(/s$/, '')
}

const rules: { name: string; reverse: (text: string) => string | null }[] = [
  {
    name: 'not',
    reverse: (text) => (isMainClause(text, text.search(auxiliary)) ? text.replace(auxiliary, '$1 not') : null),
  },
  {
    name: 'never, no longer',
    reverse: (text) =>
      isMainClause(text, text.search(auxiliary))
        ? text.replace(auxiliary, text.length % 2 === 0 ? '$1 never' : '$1 no longer')
        : null,
  },
  {
    name: 'contracted',
    reverse(text) {
      const at = text.search(/\b(?:is|are|was|were|has|have|had|could|would|should)\b(?! not\b)/)
      return isMainClause(text, at)
        ? text.replace(/\b(is|are|was|were|has|have|had|could|would|should)\b/, '$1n’t')
        : null
    },
  },
  {
    name: 'does not, fails to',
    reverse(text) {
      const found = verbPattern.exec(text)
      if (!found || /\b(?:that|which|who|to|and|or|can|may|will|is|are|was|were)\b/.test(found[1]!)) return null
      const isPlural = !found[2]!.endsWith('s')
      const denied =
        text.length % 2 === 0
          ? `${isPlural ? 'do' : 'does'} not ${base(found[2]!)}`
          : `${isPlural ? 'fail' : 'fails'} to ${base(found[2]!)}`
      return `${found[1]} ${denied} ${text.slice(found[0].length)}`
    },
  },
  {
    name: 'opposites',
    reverse(text) {
      const at = text.search(oppositePattern)
      return at === -1 || at > 120 ? null : text.replace(oppositePattern, (word) => oppositeOf.get(word)!)
    },
  },
  {
    name: 'no, none of',
    reverse(text) {
      if (/^(?:All|Every|Each|Some|Many|Most|Several)\b/.test(text))
        return text.replace(/^(?:All|Every|Each|Some|Many|Most|Several)(?: of)?\b/, (found) =>
          found.endsWith('of') ? 'None of' : 'No',
        )
      return null
    },
  },
  {
    name: 'nobody, nothing',
    reverse: (text) =>
      /^(?:You|People|Users|Everyone) (?:can|may|must|should|will)\b/.test(text)
        ? text.replace(/^(?:You|People|Users|Everyone)/, 'Nobody')
        : null,
  },
]

/** The reversed forms of a sentence. */
export function denials(text: string): { name: string; text: string }[] {
  return rules.flatMap(({ name, reverse }) => {
    const reversed = reverse(text)
    return reversed === null || reversed === text ? [] : [{ name, text: reversed }]
  })
}

const negation = /\bnot\b|n['’]t\b|\bcannot\b|\bnever\b|\bno\b|\bnone\b|\bno one\b|\bnobody\b|\bwithout\b/gi
const affirmations: [RegExp, string][] = [
  [/\b(?:do|does|did)(?: not|n['’]t) /, ''],
  [/\b(is|are|was|were|has|have|had|would|could|should|may|must|can|will)(?: not|n['’]t)\b/, '$1'],
  [/\bcannot\b|\bcan['’]t\b/, 'can'],
  [/\bnever\b/, 'always'],
  [/\bno longer\b/, 'still'],
  [/\b(?:no one|nobody)\b/i, 'everyone'],
  [/\bnone of\b/i, 'all of'],
  [/\b(has|have|had|is|are|was|were|there is|there are|with) no /, '$1 a '],
]

/** A sentence that denies one thing, without its denial; null for others. */
export function affirm(text: string): string | null {
  if (text.match(negation)?.length !== 1 || /\bnot (?:only|just|until|all|every)\b/i.test(text)) return null
  const found = affirmations.find(([pattern]) => pattern.test(text))
  return found === undefined ? null : text.replace(...found)
}
