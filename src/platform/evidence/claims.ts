import { defaultLanguage, isFunctionWord, type Language, tokenize } from '../language/index.ts'
import {
  compoundsOf,
  detectTextLanguage,
  isContentWord,
  latinOf,
  type TextLanguage,
  wordKeys,
} from './text-language.ts'
import { type Clause, readClauses } from './clauses.ts'
import { isNegation } from './negation-words.ts'
import { type Figure, monthOfName, readFigures } from './read-figures.ts'
import { normaliseNumerals } from './read-number.ts'
import { type Amount, readAmounts } from './read-amounts.ts'
import { isShareWord, readShares, type Share } from './shares.ts'
import { synonymsOf } from './words.ts'

/** The parts of a sentence that can be compared with a passage. */
export interface Claims {
  language: TextLanguage
  figures: Figure[]
  /** Shares in words. */
  shares: Share[]
  /** Its numbers with what they count. */
  amounts: () => readonly Amount[]
  /** How the sentence shows that it computes numbers. */
  operations: ReadonlySet<Operation>
  /** Names, each as the keys of its words. */
  names: { words: Name; keys: string[][] }[]
  quotes: string[]
  /** Its words with a capital letter, in lower case. */
  capitals: ReadonlySet<string>
  /** The keys of each different content word. */
  words: string[][]
  /** For each of them the keys of words that mean the same. */
  synonyms: () => readonly (readonly string[])[]
  /** Its clauses; `language` of the passage, where the sentence does not show its own. */
  clauses: (language: TextLanguage) => readonly Clause[]
}

/** List signs, numbers of list items, and addresses: no statements. */
const listSign = /^\s*(?:[-*+•>#|]+\s+|\d{1,3}[.)]\s+)*/u
const linkPattern = /\]\([^)\s]{1,2000}\)|https?:\/\/\S+/gu
/** "Step 3", "page 5": places in a document or an answer. */
const placePattern =
  /(?<!\p{L})(?:steps?|schritte?|étape|paso|passo|stap|page|pages|seiten?|página|pagina|rows?|zeilen?|section|abschnitt|chapter|kapitel|passage|source|quelle)\s{1,2}\d{1,4}/giu

/** Pairs of characters with a particle are no words. */
const particles = /^(?:[的了是在和与及才也就]\p{Script=Han}|\p{Script=Han}[的了是在和与及才也就])$/u

/** Reads a sentence. `answerLanguage`: the language of the text around it, for sentences that are too short to show theirs. */
export function readClaims(sentence: string, answerLanguage: Language | null = null): Claims {
  const text = normaliseNumerals(sentence)
    .replace(listSign, '')
    .replaceAll(linkPattern, ' ')
    .replaceAll(placePattern, ' ')
  const tokens = tokenize(text, { singleCharacters: false })
  const words = [...new Set(tokens)]
  const detected = detectTextLanguage(tokens)
  const language = detected.script === 'latin' ? { ...detected, latin: detected.latin ?? answerLanguage } : detected
  const latin = latinOf(language, defaultLanguage)
  const { shares, rest } = readShares(text)
  const figures = readFigures(rest, latin, {
    asClaims: true,
    isGuess: language.latin === null,
  })
  const hasShare = shares.length > 0 || figures.some((figure) => figure.type === 'number' && figure.isPercent)
  const keys = [
    ...words
      .filter((word) => isContentWord(word, latin) && !isNegation(word, language) && !(hasShare && isShareWord(word)))
      .filter((word) => !particles.test(word))
      .map((word) => wordKeys(word, latin)),
    ...[...new Set(compoundsOf(tokens, latin))].map((compound) => [compound]),
  ]
  return {
    language,
    figures,
    shares,
    amounts: once(() => readAmounts(rest, latin)),
    operations: readOperations(text, words),
    names: readNames(text, latin).map((name) => ({ words: name, keys: name.map((word) => wordKeys(word, latin)) })),
    quotes: readQuotes(text),
    capitals: new Set(Array.from(text.matchAll(capitalPattern), ([word]) => word.toLowerCase())),
    words: keys,
    synonyms: once(() =>
      keys.map(([word]) =>
        synonymsOf(word!, latin).flatMap((one) => wordKeys(one, latin).filter((key) => !key.endsWith('*'))),
      ),
    ),
    clauses: readOnce((other) => readClauses(text, language.latin === null ? other : language)),
  }
}

/** The claims of parts of one sentence together. */
export function mergeClaims(parts: readonly Claims[]): Claims {
  const last = parts.at(-1)!
  if (parts.length === 1) return last
  const words = new Map(parts.flatMap(({ words: keys }) => keys.map((one) => [one[0], one])))
  const synonyms = () =>
    new Map(parts.flatMap((part) => part.synonyms().map((keys, at) => [part.words[at]![0], keys] as const)))
  return {
    language: parts.find(({ language }) => language.script !== null)?.language ?? last.language,
    figures: parts.flatMap(({ figures }) => figures),
    shares: parts.flatMap(({ shares }) => shares),
    amounts: once(() => parts.flatMap(({ amounts }) => amounts())),
    operations: new Set(parts.flatMap(({ operations }) => [...operations])),
    names: parts.flatMap(({ names }) => names),
    quotes: parts.flatMap(({ quotes }) => quotes),
    capitals: new Set(parts.flatMap(({ capitals }) => [...capitals])),
    words: [...words.values()],
    synonyms: once(() => {
      const known = synonyms()
      return [...words.keys()].map((word) => known.get(word) ?? [])
    }),
    clauses: readOnce((other) => parts.flatMap(({ clauses }) => clauses(other))),
  }
}

/** What is read when it is first needed. */
export function once<Result>(read: () => Result): () => Result {
  let known: Result | undefined
  return () => (known ??= read())
}

/** The same for each language; a sentence is compared with many passages. */
function readOnce(read: Claims['clauses']): Claims['clauses'] {
  const known = new Map<string, readonly Clause[]>()
  return (language) => {
    const key = `${language.script} ${language.latin}`
    const clauses = known.get(key) ?? read(language)
    known.set(key, clauses)
    return clauses
  }
}

/** Shorter quotes are titles and single words; they count as words. */
const minimumWords = 3

const quotePattern =
  /[“„]([^“”„"\n]{3,})[”“"]|"([^"\n]{3,})"|«([^«»\n]{3,})»|»([^«»\n]{3,})«|「([^「」\n]{3,})」|``((?:[^`'\n]|'(?!'))+)''/gu
const ellipsisPattern = /\[?(?:…|\.{3})\]?/u

/** The literal quotes of a sentence, each as words in lower case joined by spaces. An ellipsis splits a quote. */
function readQuotes(text: string): string[] {
  return [...text.matchAll(quotePattern)].flatMap((match) => {
    const quote = match.slice(1).find((group) => group !== undefined)!
    const pieces = quote.split(ellipsisPattern).map(joinWords)
    return countWords(quote) < minimumWords ? [] : pieces.filter((piece) => piece !== '')
  })
}

const countWords = (text: string) => tokenize(text, { singleCharacters: false }).length

/** All words of a text in lower case, joined by spaces, so that a quote is found by `includes`. */
export function joinWords(text: string): string {
  return tokenize(text, { singleCharacters: false }).join(' ')
}

/** Words of a name in lower case, in order. */
type Name = string[]

/** Words of scripts with capitals; text without spaces around them is cut off. */
const wordPattern = /[\p{Lu}\p{Ll}\p{Lt}\p{N}][\p{Lu}\p{Ll}\p{Lt}\p{M}\p{N}]*/gu
/** Between the words of one name. */
const joinPattern = /^(?: |-|\. ?|['’]|, (?=Jr|Sr))$/u
/** Before the first word of a sentence, a list item, a cell or a quote. */
const startPattern = /(?:^|[.!?:;…|"“„«(\n])[\s*_#>-]*$/u
/** Longest text that `startPattern` looks back on. */
const startUnits = 8

/**
 * The names of a sentence: runs of words with a capital letter. The first word of a sentence is part of a name only if the next word
 * has a capital too. German writes every noun with a capital: a name has two such words, or is an abbreviation. Scripts without
 * capitals have no names by this rule, nor have texts in capitals only.
 */
function readNames(text: string, language: Language): Name[] {
  if (!/\p{Ll}/u.test(text)) return []
  return findRuns(text, [...text.matchAll(wordPattern)], language)
    .filter((run) => isName(run, language))
    .map(({ words }) => words.map((word) => word.toLowerCase()))
}

interface Run {
  words: string[]
  startsSentence: boolean
}

function findRuns(text: string, words: readonly RegExpExecArray[], language: Language): Run[] {
  const runs: Run[] = []
  let end = -1
  for (const match of words) {
    const [word] = match
    const folded = word.toLowerCase()
    const isPart =
      isCapital(word) &&
      [...word].length > 1 &&
      !isFunctionWord(folded, language) &&
      monthOfName(folded, language) === undefined
    if (isPart) {
      const joined = end >= 0 && joinPattern.test(text.slice(end, match.index))
      if (joined) runs.at(-1)!.words.push(word)
      else {
        const before = text.slice(Math.max(0, match.index - startUnits), match.index)
        runs.push({ words: [word], startsSentence: startPattern.test(before) })
      }
    }
    // An initial continues a name: "John F. Kennedy".
    const isInitial = isCapital(word) && word.length === 1 && end >= 0
    end = isPart || isInitial ? match.index + word.length : -1
  }
  return runs
}

function isName({ words, startsSentence }: Run, language: Language): boolean {
  if (words.length > 1) return true
  const [word] = words
  const isAbbreviation = /^\p{Lu}[\p{Lu}\p{N}]+$|^\p{L}+\p{Lu}/u.test(word!)
  return isAbbreviation || (!startsSentence && language !== 'de')
}

const isCapital = (word: string) => /^\p{Lu}/u.test(word)
const capitalPattern = /(?<![\p{L}\p{M}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}]*/gu

const dottedPattern = /(?:\p{Lu}\. ?){2,6}/gu
const particle = '(?:of |the |for |and |de |der |für |und )?'
const runPattern = new RegExp(
  String.raw`(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}]{1,40}(?: ${particle}\p{Lu}[\p{L}\p{M}]{1,40}){1,5}`,
  'gu',
)

const leastLetters = 2

/** The first letters of names in a text, as abbreviations of them: "us" for "United States"; and "us" for "U.S.". */
export function readAbbreviations(text: string): Set<string> {
  const found = new Set<string>()
  for (const [letters] of text.matchAll(dottedPattern)) found.add(letters.replaceAll(/[. ]/g, '').toLowerCase())
  for (const [run] of text.matchAll(runPattern)) {
    const letters = [...run.matchAll(/(?<!\p{L})\p{Lu}/gu)].join('').toLowerCase()
    // "IBM Personal Computer" is also "IBM PC".
    for (let from = 0; from <= letters.length - leastLetters; from++) found.add(letters.slice(from))
  }
  return found
}

/** Words that show how a number of a sentence was computed from others. Pure data. */

/** What a number may be computed by. */
export type Operation = 'sum' | 'difference' | 'average' | 'percent' | 'quotient' | 'product' | 'count'

const spacedWords: Readonly<Record<Operation, string>> = {
  sum:
    'total totals totalling totaling totaled totalled sum sums add adds added adding amount amounts amounted together altogether combined overall insgesamt zusammen gesamt summe total somme ensemble suma totale ' +
    'somma soma totaal samen totalt tillsammans sammanlagt sammen summa samlet łącznie razem suma celkem összesen toplam jumlah итого всего вместе сумма разом ' +
    'tổng cộng σύνολο συνολικά مجموع المجموع إجمالي الإجمالي סך יחד कुल',
  difference:
    'difference differs differ differed gap change changes changed increase increases increased decrease decreases decreased rise rises rose risen fall fell fallen grew ' +
    'growth drop dropped decline declined reduced reduction exceeds exceeded compared cheaper expensive heavier lighter larger smaller taller faster slower bigger more less fewer higher lower older younger longer shorter later earlier after before between since until ago lasted lasts spans ' +
    'spanned remain remains remaining left unterschied unterscheiden differenz änderung veränderung mehr weniger höher niedriger älter jünger länger kürzer später früher ' +
    'nach vor anstieg stieg stiegen steigt steigen gestiegen wuchs wuchsen gewachsen erhöhte erhöhten erhöht rückgang sank sanken sinkt gesunken fiel fielen gefallen verringerte verringert teurer billiger günstiger schwerer leichter größer kleiner zunahme abnahme dauerte dauert différence écart plus moins augmentation augmenté augmente baisse baissé baisse diminué diminue diminution passé hausse après ' +
    'avant duré diferencia aumento aumentó aumentado subió subido disminución disminuyó bajó bajado más menos después antes duró differenza aumento diminuzione più meno dopo prima diferença mais menos depois antes ' +
    'verschil meer minder stijging daling skillnad mer mindre forskel forskjell różnica więcej mniej rozdíl více méně különbség fark daha fazla selisih lebih kurang разница ' +
    'больше меньше выше ниже різниця більше менше chênh lệch hơn kém διαφορά الفرق فرق أكثر أقل הפרש יותר פחות अंतर अधिक',
  average:
    'average averages averaged mean median durchschnitt durchschnittlich durchschnittliche mittel mittelwert schnitt moyenne moyen promedio media medio médio média gemiddeld ' +
    'gemiddelde genomsnitt gennemsnit gjennomsnitt średnio średnia průměr průměrně átlag ortalama средний среднем средняя середній trung μέσος متوسط ממוצע औसत rata',
  percent:
    'percent percentage per-cent share proportion portion prozent prozentual anteil pourcentage cent part porcentaje ciento porcentagem cento percentuale percentage procent ' +
    'andel aandeel prosent prosenttia procentach procenta százalék yüzde persen процент процента процентов відсотків phần μερίδιο نسبة אחוז प्रतिशत',
  quotient:
    'ratio proportion quotient times twice half per each rate verhältnis quote mal je pro fois rapport veces proporción volte rapporto vezes razão keer maal gånger раз ' +
    'lần نسبة',
  product:
    'cost costs costing price priced pay pays paid times each per total totals altogether kosten kostet kosteten preis zahlen zahlt bezahlen mal je pro ' +
    'zusammen insgesamt coûtent coûte coûter prix paient payer fois cuestan cuesta precio pagan veces costano costa prezzo pagano volte custam custa preço pagam vezes kost ' +
    'kostar koster kosztuje kosztują maksaa stojí стоит стоят стоимость цена коштують giá tốn',
  count:
    'table tables tabelle tableau entries entry rows row items records lists listed count counts number there contains einträge zeilen posten anzahl liste enthält umfasst nennt entrées lignes nombre contient ' +
    'entradas filas número contiene voci righe numero contiene linhas rijen aantal rader antal antall wierszy liczba строк записей число hàng mục',
}

/** In scripts without spaces between words. */
const spacelessWords: Readonly<Record<Operation, RegExp>> = {
  sum: /总|總|共|合计|合計|まとめて|합계|총|모두|รวม/u,
  difference: /差|多了|少了|增加|减少|減少|比|年后|年後|以来|차이|증가|감소|보다|ต่าง|มากกว่า|น้อยกว่า/u,
  average: /平均|평균|เฉลี่ย/u,
  percent: /[%％٪]|百分|割合|占|퍼센트|비율|ร้อยละ/u,
  quotient: /倍|比率|비율|เท่า/u,
  product: /共|每|合计|合計|价|價|각|개당|ราคา/u,
  count: /行|项|項|条|件|個|个|개|รายการ/u,
}
const sumSign = /\d ?\+ ?[\d$€£]|= ?\S{0,3}\d/u
const differenceSign = /\d ?[-−–] ?[\d$€£]\S{0,12} ?=/u
const productSign = /\d ?[×x*·] ?[\d$€£]/u

const operationsOfWord = new Map<string, Operation[]>()
for (const [operation, words] of Object.entries(spacedWords) as [Operation, string][]) {
  for (const word of new Set(words.split(' '))) {
    operationsOfWord.set(word, [...(operationsOfWord.get(word) ?? []), operation])
  }
}

/** Whether a word (lower case) is about a computation or a table, and not about what is computed. */
export function isOperationWord(word: string): boolean {
  return operationsOfWord.has(word)
}

/** The operations that a text mentions; `words` are its words in lower case. */
function readOperations(text: string, words: readonly string[]): ReadonlySet<Operation> {
  const found = new Set(words.flatMap((word) => operationsOfWord.get(word) ?? []))
  for (const [operation, pattern] of Object.entries(spacelessWords) as [Operation, RegExp][])
    if (pattern.test(text)) found.add(operation)
  if (sumSign.test(text)) found.add('sum')
  if (differenceSign.test(text)) found.add('difference')
  if (productSign.test(text)) found.add('product')
  return found
}
