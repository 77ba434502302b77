import type { Language } from '../language/index.ts'
import { lowerCasePattern } from './words.ts'

/* All texts here are in lower case. */

/** Words that negate a clause, as alternatives of a pattern. Pure data. Those that forbid are with them: "forbidden" is "not allowed". */
const latinWords: Readonly<Record<Language, string>> = {
  en: "not|no longer|no|never|none|nobody|nothing|neither|nor|cannot|\\p{L}+n['’]t|forbidden|prohibited|prohibits?|banned|disallowed|impossible|unable|excluded|lacks|lacked|out of (?:order|service|stock)|fail(?:s|ed)? to|exempt(?:ed)? from",
  de: 'nicht|kein\\p{L}*|nie|niemals|nichts|niemand\\p{L}*|weder|verboten\\p{L}*|verbietet|untersagt\\p{L}*|unzulässig\\p{L}*|unmöglich\\p{L}*|ausgeschlossen\\p{L}*|gesperrt|befreit\\p{L}*|außer (?:betrieb|kraft)',
  fr: 'pas|jamais|aucun\\p{L}*|rien|ni|non|interdit\\p{L}*|impossible\\p{L}*|exclu\\p{L}{0,2}|dispensé\\p{L}*|exonéré\\p{L}*',
  es: 'no|nunca|jamás|ningún|ningun[oa]s?|nadie|nada|tampoco|proh[ií]b\\p{L}+|imposible\\p{L}*|excluid\\p{L}+|exent[oa]s?',
  it: 'non|mai|nessun\\p{L}*|niente|nulla|né|vietat\\p{L}+|proibit\\p{L}+|impossibil\\p{L}+|esclus\\p{L}+',
  pt: 'não|nunca|jamais|nenhum\\p{L}*|ninguém|nada|tampouco|proibid\\p{L}+|impossív\\p{L}+|excluíd\\p{L}+',
  nl: 'niet|geen|nooit|niemand|niets|verboden|onmogelijk|uitgesloten',
  sv: 'inte|ej|icke|ingen|inget|inga|aldrig|förbjud\\p{L}*|förbjöds?',
  da: 'ikke|ingen|intet|aldrig|forbudt',
  no: 'ikke|ingen|intet|aldri|forbudt',
  fi: 'ei|en|et|emme|ette|eivät|eikä|älä|älkää|kielletty\\p{L}*',
  pl: 'nie|nigdy|żad\\p{L}+|nikt|nic|zabronion\\p{L}+|zakazan\\p{L}+|wzbronion\\p{L}+',
  cs: 'není|nejsou|nesm\\p{L}+|nelze|nemůž\\p{L}+|nemá|nemaj\\p{L}+|nebud\\p{L}+|nebyl\\p{L}*|nikdy|žádn\\p{L}+|nikdo|zakázán\\p{L}*',
  ro: 'nu|niciodată|nici|nimeni|nimic|interzis\\p{L}*',
  ca: 'no|mai|cap|ningú|res|prohibi\\p{L}+',
  hu: 'nem|nincs\\p{L}*|sem|soha|senki|tilos|tiltott|tilalmas',
  id: 'tidak|bukan|jangan|belum|dilarang',
  tr: 'değil\\p{L}*|yok\\p{L}*|hiç|yasak\\p{L}*|\\p{L}{2,}(?:maz|mez|mıyor|miyor|muyor|müyor|madı|medi|mamış|memiş|mayacak|meyecek|mamalı|memeli)\\p{L}*',
  vi: 'không|chưa|chẳng|đừng|cấm',
}

/** For texts whose language is not known: words that mean something else in no frequent language. */
const unambiguous =
  "not|never|cannot|\\p{L}+n['’]t|forbidden|prohibited|nicht|kein\\p{L}*|verboten|untersagt|pas|aucun\\p{L}*|interdit\\p{L}*|não|prohibid\\p{L}+|proibid\\p{L}+|non|vietat\\p{L}+|niet|geen|inte|ikke|không"

const scriptWords: Readonly<Record<string, string>> = {
  cyrillic:
    'не|нет|нельзя|ни|никогда|никто|ничего|немає|ніколи|жодн\\p{L}+|запрещ\\p{L}+|воспрещ\\p{L}+|заборонен\\p{L}+|забранен\\p{L}*|невозможно',
  greek: 'δεν|δε|μη|μην|όχι|ποτέ|απαγορε\\p{L}+',
  arabic: 'لا|ولا|لم|لن|ليس\\p{L}*|غير|ممنوع\\p{L}*|محظور\\p{L}*|[يت]حظر|[يت]منع|نیست\\p{L}*|ندار\\p{L}*|ممنوع',
  hebrew: 'לא|אין|אינו|אינה|אינם|אינן|אסור\\p{L}*|מעולם',
  devanagari: 'नहीं|नही|न|मत|मना|निषिद्ध|वर्जित|प्रतिबंधित',
}

/** In scripts without spaces between words. */
const spacelessWords: Readonly<Record<string, string>> = {
  east_asian: '不|没|沒|未|无|無|勿|禁|ない|なかった|ません|なく|ぬ',
  thai: 'ไม่|ห้าม|มิได้',
  hangul: '않|없|아니|못하|못합|금지|불가|안 (?=\\p{L})',
}

/** What looks like a negation and is none, or two that cancel each other. */
const exempt: readonly RegExp[] = [
  /(?:\bn(?:ot|o)|\p{L}n['’]t) (?:only|just|merely|until|matter|doubt|(?:limited|restricted|confined) to|(?:later|earlier|more|less|fewer|other|longer) than)\b|\b(?:do not|don['’]t) (?:forget|hesitate)\b|\bnothing but\b|\bno sooner\b/gu,
  /\bnicht (?:nur|zuletzt)\b|\bpas (?:seulement|uniquement)\b|\bno (?:s[oó]lo|solamente|obstante)\b|\bnon (?:solo|soltanto)\b|\bnão (?:só|apenas)\b|\bniet (?:alleen|slechts)\b/gu,
  /(?<!\p{L})не только(?!\p{L})|(?<!\p{L})nie tylko(?!\p{L})|(?<!\p{L})inte bara(?!\p{L})/gu,
  /不仅|不僅|不但|不只|不同|不少|不断|不斷|不久|不过|不過|不管|不论|不論|无论|無論|不得不|未来|未來|无线|無線|无障碍|不锈|だけで(?:は)?なく|かもしれない|なければなら(?:ない|なかった|ません)|ไม่เพียง|ไม่ว่า|뿐만 아니라/gu,
]

/** The negations of a text. */
const patterns = new Map<string, RegExp>()

function patternOf(key: string, words: string, isSpaced: boolean): RegExp {
  const known = patterns.get(key)
  if (known) return known
  const pattern = lowerCasePattern(isSpaced ? `(?<![\\p{L}\\p{M}])(?:${words})(?![\\p{L}\\p{M}])` : words, 'gu')
  patterns.set(key, pattern)
  return pattern
}

export interface Negations {
  /** How often the clause is negated. */
  count: number
  /** What follows the first negation; all of it where there is none. */
  after: string
}

/** The negations of a clause; null where those of its script are not known. */
export function findNegations(
  clause: string,
  { script, latin }: { script: string | null; latin: Language | null },
): Negations | null {
  const pattern = patternFor(script, latin)
  if (!pattern) return null
  let text = clause
  for (const one of exempt) text = text.replaceAll(one, ' ')
  const found = withoutRepeats(text, [...text.matchAll(pattern)])
  const after = found[0] === undefined ? text : text.slice(found[0].index + found[0][0].length)
  const last = found.at(-1)
  // "Groups that have not reported are not eligible": each denies its own predicate, the last one that of the clause.
  if (latin === 'en' && found.length > 1 && found.every((one) => isOfPredicate(text, one)))
    return { count: 1, after: text.slice(last!.index + last![0].length) }
  // French, Slavic languages and others repeat the negation without cancelling it.
  const isCancelled = script === 'latin' && (latin === null || latin === 'en' || latin === 'de')
  return { count: isCancelled ? found.length : Math.min(found.length, 1), after }
}

const predicateBefore =
  /(?<!\p{L})(?:is|are|was|were|has|have|had|do|does|did|can|could|may|might|must|should|will|would) $/u
const longestPredicate = 8
const isOfPredicate = (text: string, { 0: word, index }: RegExpExecArray) =>
  /^(?:cannot|\p{L}+n['’]t)$/u.test(word) ||
  predicateBefore.test(text.slice(Math.max(0, index - longestPredicate), index))

/** "Neither A nor B" and "no A and no B" deny once each; "no A or B that nobody wants" denies twice. */
const repeatSigns = /(?<!\p{L})(?:and|or|nor|und|oder)(?!\p{L})/u
const relative = /(?<!\p{L})(?:that|which|who|whom)(?!\p{L})/u
const isRepeated = (between: string) => {
  const [, ...after] = between.split(repeatSigns)
  return after.length > 0 && !relative.test(after.at(-1)!)
}

/** Words that stress a denial when they are repeated: "nobody pays more, nobody". */
const stressing = new Set(['no', 'none', 'nobody', 'nothing', 'never'])

function withoutRepeats(text: string, found: readonly RegExpExecArray[]): RegExpExecArray[] {
  const seen = new Set<string>()
  return found.filter(({ 0: word, index }, at) => {
    const before = found[at - 1]
    if (word === 'nor') return text.slice(0, index).trim() === ''
    if (stressing.has(word) && seen.has(word)) return false
    seen.add(word)
    return before === undefined || !isRepeated(text.slice(before.index, index))
  })
}

const modals =
  /[不未没沒无無]?(?:允许|允許|能够|能夠|可以|需要|必须|必須|应该|應該|能|得)|禁止|不可|没有|沒有|无法|無法/gu

/** A clause without words that allow, demand or forbid: in text without spaces they would be parts of other words. */
export function withoutModals(clause: string): string {
  return clause.replaceAll(modals, ' ')
}

/** Whether a word denies: "prohibited". */
export function isNegation(word: string, language: { script: string | null; latin: Language | null }): boolean {
  return findNegations(word, language)?.count === 1
}

function patternFor(script: string | null, latin: Language | null): RegExp | null {
  if (script === 'latin') {
    const words = latin === null ? undefined : latinWords[latin]
    return words === undefined ? patternOf('latin', unambiguous, true) : patternOf(latin!, words, true)
  }
  if (script === null) return null
  const spaced = scriptWords[script]
  if (spaced !== undefined) return patternOf(script, spaced, true)
  const spaceless = spacelessWords[script]
  return spaceless === undefined ? null : patternOf(script, spaceless, false)
}

const exceptionWords =
  'because|but|except|apart from|other than|unless|although|however|whereas|weil|aber|außer(?! (?:betrieb|kraft))|sondern|sofern|obwohl|parce que|mais|sauf|excepté|sinon|porque|perché|pero|salvo|excepto|sino|aunque|ma|tranne|eccetto|mas|exceto|maar|behalve|tenzij|men|utom|ale|lecz|oprócz|но|кроме|однак|але|крім|ancak|fakat|nhưng|trừ|لكن|إلا|باستثناء|אבל|אלא|मगर|लेकिन'
/** "No. 5" and "No. of seats" deny nothing. */
const numberSign = /\bno\. ?(?=\d|of\b)/gu
/** The header of a column: "the No for the red car", "14 as No." */
const numberHeader = /(?<=[\p{Ll}\d] |\()No(?=\)|\.?\s*$| (?:for|is) )/gu
/** A text in lower case, with "number" for those. */
export const withPlainNumbers = (text: string) =>
  text.replaceAll(numberHeader, 'number').toLowerCase().replaceAll(numberSign, 'number ')
const sentenceEnd = /((?:[!?。！？؟।\n]|\.(?![\p{L}\p{N}]))+)/u
const questionMark = /[?？؟]/u

/** The sentences of a text without their ends; no questions, which state nothing. Linear. */
export function splitStatements(text: string): string[] {
  const parts = text.split(sentenceEnd)
  return parts.filter((part, at) => at % 2 === 0 && part.trim() !== '' && !questionMark.test(parts[at + 1] ?? ''))
}

/** Words that state that something is missing or refused, without denying their clause. */
const absenceWords =
  'without|devoid of|exclud(?:e|es|ing)|illegal(?:ly)?|(?!un(?:der|less|ter|til|cle|i[oqtvfcd]|anim|fortunately|doubtedly|lock|load|zip|install|subscri|plug|pack|fold|veil|block|mute|mount))un\\p{L}{4,}|non(?=-)|disabled|ohne|sans|sin|senza|sem|zonder|utan|uden|uten|bez|без|χωρίς|بدون|ללא|बिना'
/** Words that limit what a clause states: "only on Sundays" is "not on Mondays". */
const limitingWords =
  'only|otherwise|until|unless|except|apart from|too(?= \\p{L})|(?<!\\ba )(?:few|little)|rare\\p{L}*|seldom|hardly|barely|scarcely|nur|erst|einzig\\p{L}*|sonst|andernfalls|außer|selten|kaum|wenige?|seulement|uniquement|sinon|sauf|rarement|peu|s[oó]lo|solamente|únicamente|únic[oa]s?|salvo|excepto|raramente|soltanto|unic[oai]|uniche|tranne|apenas|só|exceto|alleen|slechts|behalve|bara|endast|tylko|только|лишь|فقط|chỉ|trừ'
/** Words in the place of what another sentence denies: "rejected" for "not accepted". */
const replacingWords =
  'instead|rather than|avoid\\p{L}*|refus\\p{L}+|reject\\p{L}+|declin\\p{L}+|den(?:y|ies|ied)|prevent\\p{L}*|waive\\p{L}*|exempt\\p{L}*|spare[sd]?|drop(?:s|ped)|remov\\p{L}*|discontinu\\p{L}*|abandon\\p{L}*|abolish\\p{L}*|cancel\\p{L}*|lack\\p{L}*|miss(?:ing|ed)|absen\\p{L}+|ineligible|in(?:active|valid|visible|sufficient|complete|correct)|optional|voluntary|closed?|stop\\p{L}*|ceas\\p{L}+|end(?:s|ed)|expire\\p{L}*|lost|' +
  'statt|anstatt|freiwillig|geschlossen|fehl\\p{L}+|entfäll\\p{L}*|verzicht\\p{L}*|lehn\\p{L}+|abgelehnt|facultati\\p{L}+|fermée?s?|manqu\\p{L}+|rechaz\\p{L}+|opcional\\p{L}*|cerrad\\p{L}+|falta\\p{L}*|rifiut\\p{L}+|facoltativ\\p{L}+|chius\\p{L}+|recus\\p{L}+|fechad\\p{L}+|مغلق\\p{L}*'
const spacelessLimits = '只|仅|僅|才|除|だけ|のみ|만 '
const spacelessReplacing = '拒|关闭|關閉'
const wordPattern = (words: string) => lowerCasePattern(`(?<![\\p{L}\\p{M}])(?:${words})(?![\\p{L}\\p{M}])`)
const absencePattern = wordPattern(absenceWords)
const limitingPattern = lowerCasePattern(`${wordPattern(limitingWords).source}|${spacelessLimits}`)
const mayDenyPattern = lowerCasePattern(
  `${wordPattern(`${absenceWords}|${limitingWords}|${replacingWords}`).source}|${spacelessLimits}|${spacelessReplacing}`,
  'gu',
)

/** A cell of a table that states an absence: a zero, "no", or a dash. */
const emptyCell = / \| (?:0|no|none|nein|kein|non|aucun|ninguno|[-–—]|无|無|لا)(?= ?(?:\||$))/u
/** Stands for such a cell among the words that may deny. */
const zero = '0'
export const signsOfCells = (row: string) => (emptyCell.test(row) ? [zero] : [])

/** The words of a text that may deny something without a negation. */
export function wordsThatMayDeny(text: string): string[] {
  return Array.from(text.matchAll(mayDenyPattern), ([word]) => word)
}

/** Whether such a word limits what its clause states; others are in the place of what is denied. */
export const isLimiting = (word: string) => limitingPattern.test(word)
export const isUntil = (word: string) => /^(?:until|till|bis|hasta|fino|até|tot)$/.test(word)
/** Begins a word that permits something. */
export const isPermission = (word: string) =>
  /^(?:allow|permit|able|possib|availab|support|accept|erlaub|gestatte|möglich|zulässig)/u.test(word)

const onlyWords =
  /^(?:only|nur|erst|einzig\p{L}*|seulement|uniquement|s[oó]lo|solamente|únicamente|únic[oa]s?|soltanto|unic[oai]|uniche|apenas|só|alleen|slechts|bara|endast|tylko|только|лишь|فقط|chỉ|只|仅|僅|だけ|のみ|만 )$/u
export const isOnly = (word: string) => onlyWords.test(word)

const stoppingPattern = /^(?:stop|ceas|refus|avoid|prevent|declin|disabl|drop|discontinu|abandon)/
/** Whether what follows such a word is denied by it: "stops collecting" is "no longer collects". */
export const isStopping = (word: string) => stoppingPattern.test(word)
const lossPattern = /^(?:los(?:t|es?|ing)|prevent\p{L}*|hinder\p{L}*|interrupt\p{L}*|verlier\p{L}*|verloren)$/u
/** Whether the denial of a word affirms: "is not lost" is "is still there". */
export const isLoss = (word: string) => lossPattern.test(word)

const stoppedPattern =
  /(?<![\p{L}\p{M}])(?:stop|ceas|refus|avoid|prevent|declin|disabl|drop|discontinu|abandon)\p{L}*/gu
/** What follows each word that stops something. */
export function afterStopping(text: string): string[] {
  return Array.from(text.matchAll(stoppedPattern), ({ 0: word, index }) =>
    text.slice(index + word.length, index + word.length + stoppedUnits),
  )
}
/** UTF-16 units in which what is stopped is named. */
const stoppedUnits = 80

/** What a negation does not deny itself: "not able to report", "not necessarily". */
const weakWords = new Set(
  'able necessarily yet even really actually currently usually always only just possible allowed permitted'.split(' '),
)
export const isWeak = (word: string) => weakWords.has(word)

/** "Not until", "not without", "not before": what a sentence with such a word denies, another one states without a denial. */
const limitWords =
  '(?:under|below|over|above|unter|über|moins de|menor(?:es)? de) (?=\\d)|outside|until|before|unless|without|except|other than|more than|less than|later than|bis|bevor|vor|ohne|außer|mehr als|länger als|avant|sans|sauf|plus de|hasta|antes|sin|salvo|más de|prima|senza|più di|antes|sem|voor|zonder|zonder|до|без'
const limitPattern = lowerCasePattern(wordPattern(limitWords).source, 'gu')

/** "No more than two" limits from above, and who "pays nothing" has it free: the text with such denials in words that affirm. */
const plainWords: readonly (readonly [words: string, instead: string])[] = [
  [
    "(?:no|not) (?:more|longer|later|higher|larger|bigger|older|heavier|wider) than|(?:cannot|(?:can|could|may|must|should)(?:n['’]t| not)) (?:exceed|be (?:more|longer|later|larger|bigger|older|higher|heavier) than)",
    'at most',
  ],
  ['sold separately|(?:costs?|is|are) extra', 'is not included'],
  ['kostet extra|kosten extra|(?:gesondert|separat) (?:berechnet|erhältlich|verkauft)', 'nicht enthalten'],
  ['vendue?s? séparément|en supplément', 'pas compris'],
  ['se (?:paga|cobra|vende)n? (?:aparte|por separado)', 'no está incluido'],
  ['vendut[oaie] separatamente|si paga(?:no)? a parte', 'non è incluso'],
  [
    '(?:pays?|costs?|paying|costing) nothing|free of (?:charge|cost)|(?:at no|without) (?:extra )?(?:charge|cost)',
    'is free',
  ],
  ['passed on|pass(?:es|ing)? (?:(?:it|them|this|these) )?on(?= to )', 'transferred'],
  ['get (?:(?:any|the|his|her|my|our|their|your) )?money back', 'refunded'],
  ['(?:zahl|bezahl|kost)(?:e?n|e?t) nichts|nichts (?:be)?zahlen|ohne (?:gebühr|kosten|aufpreis)', 'kostenlos'],
  ["(?:ne |n['’])(?:coût|pai|pay)e(?:nt)? rien|sans frais", 'gratuit'],
  ['no (?:cuestan?|pagan?) nada|sin (?:coste|costo|cargo)', 'gratis'],
  ['non (?:costa(?:no)?|paga(?:no)?) (?:nulla|niente)|senza costi', 'gratis'],
  ['não (?:custam?|pagam?) nada|sem custos?', 'grátis'],
  ['(?:kost|kosten|betaalt|betalen) niets|niets te betalen', 'gratis'],
]
const plainPattern = lowerCasePattern(
  `(?<![\\p{L}\\p{M}])(?:${plainWords.map(([words]) => `(${words})`).join('|')})(?![\\p{L}\\p{M}])`,
  'gu',
)
export const withPlainWords = (text: string) =>
  text.replaceAll(plainPattern, (_, ...found) => plainWords[found.findIndex((one) => one !== undefined)]![1])

/** The words of a text that limit what it denies. */
export function limitsOf(text: string): string[] {
  return Array.from(text.matchAll(limitPattern), ([word]) => word)
}

/** What follows the first word in a clause that states an absence; null where it has none. */
export function afterAbsence(clause: string, isNegation: (word: string) => boolean): string | null {
  const found = absencePattern.exec(clause)
  return found === null || isNegation(found[0]) ? null : clause.slice(found.index + found[0].length)
}

const conditionWords =
  'if|when|whether|provided that|as soon as|as long as(?= (?:the|a|an|your|it|this|no|all)(?!\\p{L}))|once(?= (?:(?:the|you|your|it|they|we|this)(?!\\p{L})|\\p{L}{1,20} (?:is|are|has|have)(?!\\p{L})))|wenn|falls|solange|sobald|cuando|quand|quando|indien|jeśli|gdy|если|когда|якщо|eğer|nếu|إذا|אם|अगर'
/** "Is valid for a year and is not transferable": what is before it is not denied. */
const andNot =
  "(?:and|und|et|y|e|en|och|og|и) (?:\\p{L}{1,5} |there['’]s |(?:there|they|you|it|we|this|these|that) \\p{L}{1,6} )?(?:not|never|cannot|unable|\\p{L}{1,8}n['’]t|nicht|kein\\p{L}{0,3}|n['’]?est|ne|no|non|não|niet|geen|inte|ikke|не)"

/** Verbs that begin the predicate of a clause. */
const auxiliaries =
  'is|are|was|were|has|have|had|can|could|may|might|must|should|will|would|does|did|cannot|ist|sind|war|waren|hat|haben|kann|können|darf|dürfen|muss|müssen|wird|werden|wurde|wurden|est|sont|peut|peuvent|doit|doivent|es|está|son|están|puede|pueden|debe|deben'
/** "Cannot be divided and is slow": what is after it is not denied. */
const andPredicate = `(?:and|or|but|und|et|y) (?:also )?(?:${auxiliaries})`
const andNotStart = lowerCasePattern(`^\\s*(?:${andNot}|${andPredicate})(?![\\p{L}\\p{M}])`)
const predicateStart = lowerCasePattern(`^\\s*(?:${auxiliaries}|\\p{L}{2,6}n['’]t)(?![\\p{L}\\p{M}])`)
const anyAuxiliary = lowerCasePattern(`(?<![\\p{L}\\p{M}])(?:${auxiliaries}|\\p{L}{2,6}n['’]t)(?![\\p{L}\\p{M}])`)

/** Whether a clause has the subject of the one before. */
export function continuesSubject(clause: string): boolean {
  return andNotStart.test(clause)
}

/** Whether a clause begins with its predicate: "are not deleted", after a list. */
export function beginsPredicate(clause: string): boolean {
  return predicateStart.test(clause)
}

const lastItem =
  /^\s*(?:[\p{L}\p{M}\p{N}'’-]{1,20} ){0,3}(?:and|or|und|oder|et|ou|y|o|e|en) (?:[\p{L}\p{M}\p{N}'’-]{1,20} ){1,3}$/u

/** Whether a clause is the last item of a list with its predicate: "and cases are not checked", or the last two without a comma. */
export function endsList(clause: string): boolean {
  const subject = beforeAuxiliary(clause)
  return subject !== null && lastItem.test(subject)
}

const orStart =
  /^\s*(?:or|nor|oder|ou|ni|o)(?! (?:the|a|an|your|you|it|they|we|he|she|der|die|das|sie|es|er|le|la|el)(?!\p{L}))(?!\p{L})/u

/** Whether a clause is one more of what the one before denies: "not edit, or remove". */
export function continuesDenial(clause: string): boolean {
  return orStart.test(clause) && beforeAuxiliary(clause) === null
}

/** The text before the first auxiliary verb; null without one. */
export function beforeAuxiliary(clause: string): string | null {
  const at = clause.search(anyAuxiliary)
  return at === -1 ? null : clause.slice(0, at)
}

const pronounStart =
  /^\s*(?:(?:and|but|und|aber) )?(?:(?:it(?! (?:is|was)(?: not|n['’]t)? (?:possible|necessary|required|important|easy|difficult|allowed))|they|he|she|er|sie|elles?|ils|وهي|وهو|هي|هو)(?![\p{L}\p{M}]))/u

const demonstrativeStart = lowerCasePattern(
  `^\\s*(?:this|these|that|dies|das|ceci|cela|ça|esto|eso|questo|ciò|dit|deze|dat) (?:(?:${auxiliaries})(?![\\p{L}\\p{M}])|\\p{L}{2,6}n['’]t(?!\\p{L}))`,
)

/** Whether a sentence begins with "this" for what the one before is about. */
export function beginsWithDemonstrative(sentence: string): boolean {
  return demonstrativeStart.test(sentence)
}

/** Whether a sentence begins with a pronoun for the subject of the one before. */
export function beginsWithPronoun(sentence: string): boolean {
  return pronounStart.test(sentence)
}

const necessityWords =
  'must|needs?|needed|requir\\p{L}+|necessary|mandatory|obligatory|compulsory|ha(?:ve|s) to|only|muss|müssen|musst|erforderlich|nötig|notwendig|verpflicht\\p{L}+|pflicht\\p{L}*|brauch\\p{L}+|benötig\\p{L}+|doi(?:t|vent)|faut|obligatoires?|nécessaires?|deben?|hay que|obligatori\\p{L}+|necesari\\p{L}+|necesita\\p{L}*'
const necessity = lowerCasePattern(`${wordPattern(necessityWords).source}|必须|必須|需要|须`)
/** Whether a clause states that something is necessary. */
export const isNecessity = (clause: string) => necessity.test(clause)

const optionPattern = lowerCasePattern(
  `${
    wordPattern(
      "(?:not|n['’]t|never|no longer) (?:\\p{L}{1,12} )?(?:need|have to|require|necessary|required|mandatory|obligatory)|need(?:n['’]t| not)|no need|no (?:\\p{L}| ){1,30} (?:needed|required|necessary)|muss(?:t|en)? (?:\\p{L}| ){0,30}(?:nicht|kein\\p{L}{0,2})|müssen (?:\\p{L}| ){0,30}(?:nicht|kein\\p{L}{0,2})|nicht (?:erforderlich|nötig|notwendig)|pas (?:nécessaire|obligatoire|besoin)|no (?:es |está )?(?:necesari\\p{L}|obligatori\\p{L})|no hace falta",
    ).source
  }|(?<=\\p{L})n['’]t (?:need|have to|require)|不需要|不必|无需|不用`,
)
/** Whether a clause states that something is not necessary, which forbids nothing. */
export const isOption = (clause: string) => optionPattern.test(clause)

const optionWords = wordPattern(
  'automatic\\p{L}*|free|optional|can|may|also|any|instead|or|oder|ou|saved?|kept|already|bereits|automatisch|kostenlos|gratuits?|gratis',
)
/** Whether a clause shows that something is not necessary, without a denial. */
export const showsOption = (clause: string) => optionWords.test(clause)

const butNotStart =
  /^\s*(?:(?:but|aber|jedoch|mais|pero|sino|ma|mas|maar|men|ale|но) )?(?:\p{L}{3,}(?:ly|lich|weise|ment|mente) )?(?:not|nicht|pas|no|non|não|niet|inte|ikke|nie|не)(?![\p{L}\p{M}])/u

/** Whether a clause denies of something else what the one before states: "in the yard, but not on the stairs". */
export function continuesPredicate(clause: string): boolean {
  return butNotStart.test(clause)
}

const denialAtEnd = lowerCasePattern(
  `(?<![\\p{L}\\p{M}])(?:not|never|cannot|\\p{L}{2,6}n['’]t|nicht|nie|niemals|pas|jamais|no|nunca|non|mai|não|niet|nooit|inte|ikke)(?: (?:${auxiliaries}))?\\s*$`,
)

/** Whether a clause ends with what denies it, so that it has the predicate of another one: "the pump is not". */
export function endsWithDenial(clause: string): boolean {
  return denialAtEnd.test(clause)
}

/** "No, it is open": an answer to a question. */
export const answerStart = /^\s*(?:no|nein|non|não|nee|nej|nie|нет)\s*$/u

/** Where a clause ends. */
export const clauseEnd = lowerCasePattern(
  `(?:[,;:!?()|،؛。，；：！？、…–—\\n]|\\.(?!\\p{L}|\\p{N}))+|(?<![\\p{L}\\p{M}])(?=(?:${exceptionWords}|${conditionWords})(?![\\p{L}\\p{M}])|(?:${andNot}|${andPredicate}|there (?:is|are|was|were))(?![\\p{L}\\p{M}]))|(?=但|除|しかし|ただし|하지만|แต่)`,
  'gu',
)

/** A clause that begins so denies of something else what the clause before states. */
export const exceptionStart =
  /^\s*(?:(?:except|apart from|other than|außer(?! (?:betrieb|kraft))|sauf|excepté|salvo|excepto|tranne|eccetto|exceto|behalve|utom|oprócz|кроме|крім|trừ|إلا|باستثناء)(?!\p{L})|除|ただし)/u

/** "Unless it rains": its words state nothing. */
export const unlessStart = /^\s*(?:unless|sofern|tenzij)(?!\p{L})/u

const condition = lowerCasePattern(`(?<![\\p{L}\\p{M}])(?:${conditionWords})(?![\\p{L}\\p{M}])|如果|若|もし|ถ้า`)
/** "Si" begins a condition in some languages, and is a pronoun in Italian. */
const romanceCondition = /(?<![\p{L}\p{M}])si(?![\p{L}\p{M}])/u

/** Whether a clause states a condition: it claims nothing. */
export function isConditional(clause: string, latin: Language): boolean {
  return condition.test(clause) || (/^(?:es|fr|ca)$/.test(latin) && romanceCondition.test(clause))
}

/** Those that take longest to compile, up to 20 ms each. */
export const slowPatterns = [clauseEnd, andNotStart, demonstrativeStart, denialAtEnd, plainPattern]
