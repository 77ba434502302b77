import type { Language } from '../language/index.ts'

/** How a clause limits what it states: to something, by an exception, or to a part. */
export type Restriction = 'only' | 'exception' | 'part'

/** Words that state something of all, in any case or at any time. Pure data. */
const universalWords: Readonly<Record<Language, string>> = {
  en: 'always|all(?! (?:right|but))(?<!\\bat all)|every|everyone|everybody|everything|(?:at|in|under) any \\p{L}+|anyone|anybody|anytime|anywhere|everywhere|whenever|wherever|unlimited|unrestricted\\p{L}*|as (?:often|many|much|long) as (?:you|they|one|we) \\p{L}+|(?:with)?out (?:any )?(?:limit|restriction|exception)s?',
  de: 'immer|stets|jederzeit|alle[nrs]?(?! (?:\\d|zwei|drei|vier|fünf|sechs|acht|zehn|paar))|jede[nmrs]?|überall|beliebig|sämtliche\\p{L}*|unbegrenzt|uneingeschränkt|ausnahmslos',
  fr: "toujours|tous|toutes|chaque|partout|n['’]importe|à tout moment|illimité\\p{L}*",
  es: 'siempre(?! que)|todos|todas|todo el|cada|cualquier\\p{L}*|ilimitad\\p{L}+',
  it: 'sempre(?! che)|tutti|tutte|ogni|qualsiasi|qualunque|ovunque|illimitat\\p{L}+',
  pt: 'sempre(?! que)|todos|todas|cada|qualquer|ilimitad\\p{L}+',
  nl: 'altijd|alle|elke?|iedere?|iedereen|overal|onbeperkt',
  sv: 'alltid|alla|varje|obegränsat',
  da: 'altid|alle|hver|hvert',
  no: 'alltid|alle|hver|hvert',
  pl: 'zawsze|wszystk\\p{L}+|każd\\p{L}+',
}
const universalOfScript: Readonly<Record<string, string>> = {
  cyrillic: 'всегда|все|всех|всем|кажд\\p{L}+|люб(?:ой|ая|ое|ые|ого|ому|ым|ых)|завжди|всі|кожн\\p{L}+',
  arabic: 'دائما|دائمًا|كل|جميع',
}
const universalInHan = /每|所有|全部|总是|總是|一直|任何|都|すべて|全て|いつも|常に|毎/u

const restrictingWords: Readonly<Record<Restriction, Readonly<Record<Language, string>>>> = {
  only: {
    en: 'only|solely|exclusively|(?:limited|restricted|confined) to|provided|as long as',
    de: 'nur|erst|ausschließlich|lediglich|beschränkt',
    fr: 'seulement|uniquement|exclusivement|seuls?|seules?|à condition|limitée?s?',
    es: 's[oó]lo|solamente|únicamente|exclusivamente|únic[oa]s?|siempre que',
    it: 'solo|soltanto|solamente|unicamente|esclusivamente|purché',
    pt: 'só|somente|apenas|unicamente|desde que',
    nl: 'alleen|slechts|uitsluitend|enkel|mits',
    sv: 'bara|endast|enbart',
    da: 'kun|udelukkende',
    no: 'bare|kun',
    pl: 'tylko|wyłącznie|jedynie',
  },
  exception: {
    en: 'unless|except|excluding|apart from|other than|save (?:in|for|where|when|that)|outside',
    de: 'sofern|außer|außerhalb|ausgenommen|es sei denn|mit Ausnahme',
    fr: 'sauf|excepté|hormis|hors|en dehors|à moins',
    es: 'salvo|excepto|a menos|fuera de',
    it: 'tranne|eccetto|salvo|a meno|fuori da\\p{L}*',
    pt: 'exceto|salvo|a menos|fora d\\p{L}+',
    nl: 'behalve|tenzij|buiten|uitgezonderd',
    sv: 'utom|förutom|såvida',
    da: 'undtagen|medmindre',
    no: 'unntatt|med mindre',
    pl: 'oprócz|chyba|z wyjątkiem|poza',
  },
  part: {
    en: 'some|(?<!the )most(?! recent)|many|several|certain|up to|at most',
    de: 'einige|manche|bestimmte|die meisten|bis zu|höchstens',
    fr: 'certain\\p{L}*|quelques|la plupart|au plus',
    es: 'algun\\p{L}+|la mayoría|como máximo',
    it: 'alcun\\p{L}+|la maggior parte|al massimo',
    pt: 'algum\\p{L}*|alguns|a maioria|no máximo',
    nl: 'sommige|de meeste|hoogstens|enkele',
  },
}
const restrictingOfScript: Readonly<Record<string, readonly (readonly [Restriction, string])[]>> = {
  cyrillic: [
    ['only', 'только|лишь|исключительно'],
    ['exception', 'кроме|за исключением|крім'],
    ['part', 'некотор\\p{L}+|большинство'],
  ],
  arabic: [
    ['only', 'فقط'],
    ['exception', 'إلا|باستثناء'],
    ['part', 'بعض'],
  ],
}
const restrictingInHan: readonly (readonly [Restriction, RegExp])[] = [
  ['only', /只|仅|僅|才|だけ|のみ|限/u],
  ['exception', /除|因|ただし/u],
  ['part', /部分|有些|一部/u],
]

interface Place {
  script: string | null
  latin: Language
}

const compiled = new Map<string, RegExp>()

/** A pattern of whole words, compiled once. */
function patternOf(words: string): RegExp {
  const known = compiled.get(words) ?? new RegExp(`(?<![\\p{L}\\p{M}])(?:${words})(?![\\p{L}\\p{M}])`, 'iu')
  compiled.set(words, known)
  return known
}

const has = (words: string | undefined, text: string) => words !== undefined && patternOf(words).test(text)

/** Whether a part of a sentence states something of all. */
export function isUniversal(part: string, { script, latin }: Place): boolean {
  if (script === 'east_asian') return universalInHan.test(part)
  return has(script === 'latin' ? universalWords[latin] : universalOfScript[script ?? ''], part)
}

const restrictions = ['only', 'exception', 'part'] as const

/** How a part of a sentence limits what it states. */
export function restrictionsOf(part: string, { script, latin }: Place): Restriction[] {
  if (script === 'east_asian') return restrictingInHan.flatMap(([kind, words]) => (words.test(part) ? [kind] : []))
  if (script !== 'latin')
    return (restrictingOfScript[script ?? ''] ?? []).flatMap(([kind, words]) => (has(words, part) ? [kind] : []))
  return restrictions.filter((kind) => has(restrictingWords[kind][latin], part))
}

const startUnits = 20
/** Whether a part begins with what limits the one before or after it: "except on Sundays". */
export function startsWithRestriction(part: string, place: Place): boolean {
  return restrictionsOf(part.trimStart().slice(0, startUnits), place).includes('exception')
}

/** "Only with a permit": a condition, and no amount. */
const onlyCondition = new RegExp(
  '(?<![\\p{L}\\p{M}])(?:only|solely|nur|ausschließlich|seulement|uniquement|s[oó]lo|solamente|únicamente|solo|soltanto|só|somente|apenas|alleen|uitsluitend|bara|endast|kun) ' +
    '(?:with|if|when|after|by|for|to|as|upon|under|mit|wenn|nach|für|als|unter|avec|pour|sur|si|après|con|para|se|si|per|met|voor|na|al|a|med|efter)(?![\\p{L}\\p{M}])',
  'iu',
)
const permission = new RegExp(
  '(?<![\\p{L}\\p{M}])(?:allow\\p{L}*|permit\\p{L}*|possible|accept\\p{L}*|admit\\p{L}*|available|grant\\p{L}*|may|can|erlaubt|gestattet|möglich|darf|dürfen|zulässig|kann|können|angenommen|' +
    'autoris\\p{L}+|permis\\p{L}*|admis\\p{L}*|peut|peuvent|accept\\p{L}+|puede\\p{L}*|posible|ammess\\p{L}+|consentit\\p{L}+|possibil\\p{L}+|può|possono|toegestaan|mogelijk|mag|mogen|kan|kunnen|aangenomen)(?![\\p{L}\\p{M}])',
  'iu',
)

/** What follows "only with" or "only after" in a clause that allows something; null where it has none. */
export function afterOnly(part: string): string | null {
  const found = onlyCondition.exec(part)
  return found === null || !permission.test(part) ? null : part.slice(found.index + found[0].length)
}
