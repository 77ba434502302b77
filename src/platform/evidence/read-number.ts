import { lookUp } from '../kernel/index.ts'
import type { Language } from '../language/index.ts'

/**
 * Words that stand for numbers. Pure data; `|` separates forms of one number. Words with a frequent second meaning are left out: French
 * "neuf" (new), Italian "sei" (you are), Vietnamese "năm" (year).
 */

/** The words of two to twelve or more, in order; `-` where a language has no unambiguous word. */
const fromTwo: Record<Language, string> = {
  en: 'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  de: 'zwei|zweier drei|dreier vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
  fr: 'deux trois quatre cinq six sept huit - dix onze douze treize quatorze quinze seize',
  es: 'dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte',
  it: 'due tre quattro cinque - sette otto nove dieci undici dodici tredici quattordici quindici sedici',
  pt: 'dois|duas três quatro cinco seis sete oito nove dez onze doze treze catorze|quatorze quinze',
  nl: 'twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien',
  sv: 'två tre fyra fem sex sju åtta nio tio elva tolv',
  da: '- tre fire fem seks syv otte ni ti elleve tolv',
  no: '- tre fire fem seks sju|syv åtte ni ti elleve tolv',
  fi: 'kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista kaksitoista',
  pl: 'dwa|dwie|dwóch trzy|trzech cztery|czterech pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście',
  cs: 'dva|dvě tři čtyři pět šest sedm osm devět deset jedenáct dvanáct',
  ro: 'doi|două trei patru cinci șase șapte opt nouă zece unsprezece doisprezece',
  ca: 'dos|dues tres quatre cinc sis set vuit nou deu onze dotze',
  id: 'dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas -',
  tr: 'iki üç dört beş altı yedi sekiz dokuz - - -',
  ru: 'два|две|двух три|трёх|трех четыре|четырёх|четырех пять|пяти шесть|шести семь|семи восемь|восьми девять|девяти десять|десяти одиннадцать двенадцать',
}

/** Further words of a text that may support a number: they are no claims, because they have other uses. */
const furtherWords: Record<Language, Record<string, number>> = {
  en: {
    one: 1,
    once: 1,
    single: 1,
    both: 2,
    couple: 2,
    double: 2,
    pair: 2,
    twice: 2,
    triple: 3,
    trio: 3,
    dozen: 12,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
    seventy: 70,
    eighty: 80,
    ninety: 90,
    hundred: 100,
    first: 1,
    second: 2,
    third: 3,
    fourth: 4,
    fifth: 5,
    sixth: 6,
    seventh: 7,
    eighth: 8,
    ninth: 9,
    tenth: 10,
  },
  de: {
    ein: 1,
    eine: 1,
    einem: 1,
    einen: 1,
    einer: 1,
    beide: 2,
    beiden: 2,
    doppelt: 2,
    paar: 2,
    zweimal: 2,
    dreimal: 3,
    dutzend: 12,
    zwanzig: 20,
    dreißig: 30,
    vierzig: 40,
    fünfzig: 50,
    hundert: 100,
  },
  vi: { một: 1, hai: 2, ba: 3, bốn: 4, sáu: 6, bảy: 7, tám: 8, chín: 9, mười: 10 },
}

const claimed = new Map<Language, Map<string, number>>()
for (const [language, words] of Object.entries(fromTwo)) {
  const values = new Map<string, number>()
  for (const [index, forms] of words.split(' ').entries()) {
    for (const form of forms.split('|')) if (form !== '-') values.set(form, index + 2)
  }
  claimed.set(language, values)
}

/** The number from two on that a word (lower case) means in a language; most know those up to twelve. */
export function numberOfWord(word: string, language: Language): number | undefined {
  return claimed.get(language)?.get(word)
}

/** Words of languages that are no words of another one. */
const distinctLanguages: Language[] = ['de', 'fr', 'es', 'it', 'pt', 'nl']
const ambiguousWords = new Set(['once', 'sept', 'otto'])
const minimumDistinctLetters = 4

/** The number that a word (lower case) means, where the language is not known. */
export function numberOfDistinctWord(word: string): number | undefined {
  if (word.length < minimumDistinctLetters || ambiguousWords.has(word)) return undefined
  const language = distinctLanguages.find((one) => numberOfWord(word, one) !== undefined)
  return language === undefined ? undefined : numberOfWord(word, language)
}

/** As `numberOfWord`, with ordinals, larger numbers and words such as "both". */
export function numberSuppliedByWord(word: string, language: Language): number | undefined {
  const further = furtherWords[language]
  return numberOfWord(word, language) ?? (further && lookUp(further, word))
}

const englishTens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')

/** Whether a word is the tens that a following number word adds to: the "twenty" of "twenty-five". */
export function isTens(word: string): boolean {
  return englishTens.includes(word)
}

const scaleForms: [string, readonly number[]][] = [
  ['hundred hundert cent cento cien', [1e2]],
  [
    'k thousand thousands tausend tsd mille mil mila duizend tusen tysiąc tysięcy tysiące тысяч тысячи nghìn ngàn ribu',
    [1e3],
  ],
  [
    'm mn mln mio million millions millionen millón millones milione milioni milhão milhões miljoen miljon miljoner ' +
      'milionů miliona miliony milion milionów миллион миллиона миллионов млн triệu juta milyon',
    [1e6],
  ],
  [
    'bn mrd milliarde milliarden milliard milliards miliardo miliardi miljard miljarder miliard miliardów miliardy ' +
      'миллиард миллиарда миллиардов млрд tỷ tỉ miliar milyar bilhão bilhões',
    [1e9],
  ],
  // Short scale in English, long scale elsewhere.
  ['billion billions', [1e9, 1e12]],
  ['trillion trillions billionen', [1e12, 1e18]],
]
const scales = new Map(scaleForms.flatMap(([words, values]) => words.split(' ').map((word) => [word, values] as const)))
/** Signs directly after a number, in text without spaces. */
const eastAsianScales: Record<string, readonly number[]> = {
  百: [1e2],
  千: [1e3],
  万: [1e4],
  萬: [1e4],
  만: [1e4],
  亿: [1e8],
  億: [1e8],
  억: [1e8],
}

/** By what a word (lower case) after a number multiplies it; empty where it does not. */
export function scalesOfWord(word: string): readonly number[] {
  return scales.get(word) ?? eastAsianScales[word[0]!] ?? []
}

const approximations = new Set(
  (
    'about around approximately approx roughly nearly almost some over under circa ca ungefähr etwa rund knapp fast zirka gut ' +
    'environ presque unos unas casi aproximadamente alrededor quasi oltre circa ongeveer bijna ruim cirka ungefär nästan około ' +
    'prawie около почти khoảng gần 约 大约 約 およそ'
  ).split(' '),
)

/** Whether a word (lower case) before a number makes it a rounded one. */
export function isApproximation(word: string): boolean {
  return approximations.has(word) || /[约約]$/u.test(word)
}

const currencyForms: Record<string, string> = {
  EUR: '€ eur euro euros',
  USD: '$ usd dollar dollars dólar dólares dollari доллар долларов',
  GBP: '£ gbp pound pounds sterling pfund',
  JPY: '¥ jpy yen 円',
  CHF: 'chf franken francs',
}
const currencies = new Map(
  Object.entries(currencyForms).flatMap(([code, forms]) => forms.split(' ').map((form) => [form, code] as const)),
)

/** The currency that a sign or a word (lower case) names. */
export function currencyOf(word: string): string | undefined {
  return currencies.get(word)
}

/** What a number counts: `size` of the smallest unit of a measure. Those of clocks are before and after noon. */
export interface Unit {
  measure: string
  size: number
}

const unitForms: readonly (readonly [measure: string, size: number, words: string])[] = [
  ['time', 0.001, 'ms millisecond milliseconds millisekunden millisecondes milisegundos millisecondi'],
  ['time', 1, 's sec secs second seconds sekunde sekunden sek seconde secondes segundo segundos secondo secondi'],
  ['time', 60, 'min mins minute minutes minuten minuto minutos minuti minuut'],
  ['time', 3_600, 'h hr hrs hour hours stunde stunden std heure heures hora horas ora ore uren'],
  ['time', 86_400, 'day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen arbeitstage arbeitstagen werktage werktagen'],
  ['time', 604_800, 'week weeks woche wochen semaine semaines semana semanas settimana settimane weken'],
  ['time', 2_628_000, 'month months monat monate monaten mois mes meses mese mesi maand maanden mês'],
  ['time', 31_536_000, 'year years jahr jahre jahren an ans année années año años anno anni ano anos jaar jaren'],
  ['length', 0.001, 'mm millimetre millimetres millimeter millimeters millimètres milímetros'],
  ['length', 0.01, 'cm centimetre centimetres centimeter centimeters zentimeter zentimetern centimètre centimètres centímetro centímetros'],
  ['length', 1, 'metre metres meter meters metern mètre mètres metro metros metri'],
  ['length', 1_000, 'km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres kilómetro kilómetros chilometri'],
  ['length', 0.0254, 'inch inches zoll pouces pulgadas'],
  ['length', 0.3048, 'ft foot feet'],
  ['length', 0.9144, 'yard yards'],
  ['length', 1_609.344, 'mi mile miles meile meilen millas'],
  ['mass', 1, 'g gram grams gramm gramme grammes gramo gramos'],
  ['mass', 1_000, 'kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos'],
  ['mass', 1_000_000, 'tonne tonnes tonnen tonelada toneladas'],
  ['mass', 28.35, 'oz ounce ounces'],
  ['volume', 0.001, 'ml millilitre millilitres milliliter milliliters mililitros'],
  ['volume', 1, 'l litre litres liter liters litern litro litros litri'],
  ['data', 1, 'kb kilobyte kilobytes'],
  ['data', 1e3, 'mb megabyte megabytes'],
  ['data', 1e6, 'gb gigabyte gigabytes'],
  ['data', 1e9, 'tb terabyte terabytes'],
] // prettier-ignore
/** Words of one unit share its object. */
const units = new Map(
  unitForms.flatMap(([measure, size, words]) => {
    const unit: Unit = { measure, size }
    return words.split(' ').map((word): [string, Unit] => [word, unit])
  }),
)
const beforeNoon: Unit = { measure: 'clock', size: 0 }
const afterNoon: Unit = { measure: 'clock', size: 12 }

/** The unit that a word (lower case) names. */
export const unitOfWord = (word: string) => units.get(word)

/** The half of the day that a word (lower case) after a number names in English: "a.m."; `rest`: what follows it. */
export function halfOfDay(word: string, rest: string): Unit | undefined {
  if (word === 'am' || word === 'pm') return word === 'am' ? beforeNoon : afterNoon
  return /^[ap]$/.test(word) && /^\. ?m(?!\p{L})/u.test(rest) ? (word === 'a' ? beforeNoon : afterNoon) : undefined
}

const unitAdjectives = new Set(
  'working business calendar full consecutive further more additional other volle weitere'.split(' '),
)
/** Whether a word may be between a number and its unit: "ten working days". */
export const mayPrecedeUnit = (word: string) => unitAdjectives.has(word)

/** Whether a number that always has another unit in a place is another one there. `known`: its units there, null where it has none. */
export const hasOtherUnit = (unit: Unit, known: ReadonlySet<Unit | null> | undefined) =>
  known !== undefined && !known.has(null) && !known.has(unit)

const month = 2_628_000
const monthOfDays = 2_592_000
/** Keys of a quantity, of which another way of writing has one: 14 days and two weeks; a month is also 30 days. */
export function quantityKeys(value: number, { measure, size }: Unit): string[] {
  if (measure === 'clock') return []
  const sizes = measure === 'time' && size === month ? [month, monthOfDays] : [size]
  return sizes.map((one) => `${measure} ${exact(value * one)}`)
}

const hanDigits = '〇一二三四五六七八九'
const hanUnits: Record<string, number> = { 十: 10, 百: 100, 千: 1_000 }
/** Longer runs of numerals are not numbers. */
const maximumHanNumerals = 12

/** Two signs or more with a ten: 十 alone and 千万 have other meanings. */
const unambiguousHan = /[〇一二三四五六七八九]十|十[一二三四五六七八九]/u

/**
 * The numbers written in Chinese numerals in a text: 三 is 3, 二十五 is 25, 一九九〇 is 1990. `asClaims`: only those that must be numbers.
 */
export function hanNumbers(text: string, { asClaims }: { asClaims: boolean }): number[] {
  const found: number[] = []
  for (const [run] of text.matchAll(/[〇零一二两兩三四五六七八九十百千]+/gu)) {
    if (asClaims && !unambiguousHan.test(run)) continue
    if (run.length <= maximumHanNumerals) found.push(hanNumber(run.replaceAll('零', '〇').replaceAll(/[两兩]/gu, '二')))
  }
  return found
}

function hanNumber(run: string): number {
  if (!/[十百千]/u.test(run)) return Number([...run].map((sign) => hanDigits.indexOf(sign)).join(''))
  let sum = 0
  let digit: number | null = null
  for (const sign of run) {
    const unit = hanUnits[sign]
    if (unit === undefined) digit = hanDigits.indexOf(sign)
    else {
      sum += (digit ?? 1) * unit
      digit = null
    }
  }
  return sum + (digit ?? 0)
}

/** How numbers are written: group and decimal signs, digits of all scripts. Pure. */

/** Digits with group and decimal signs in between; a space groups after three digits at most: "in 2023 310" has two. Linear: no sign may follow a sign. */
export const numberPattern = String.raw`(?:\d{1,3}(?: \d{3}(?!\d))+|\d+)(?:[.,'’]\d+)*`

/** Code points of the digit zero of other scripts; the other nine follow. */
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0,
]

const fractions: Record<string, string> = { '¼': '.25', '½': '.5', '¾': '.75', '⅓': '.333', '⅔': '.667' }

/** NFKC with ASCII digits, vulgar fractions as decimals, and exponents removed: "5 m²" and "5 m2" have the number 5 only. */
export function normaliseNumerals(text: string): string {
  return text
    .replaceAll(/[⁰¹²³⁴-⁹₀-₉]+|(?<=(?<!\p{L})(?:[kcdm]?m|ft|in))[23](?![\p{L}\p{N}])/gu, ' ')
    .replaceAll(/(\d?)([¼½¾⅓⅔])/gu, (_, whole: string, fraction: string) => `${whole || '0'}${fractions[fraction]}`)
    .normalize('NFKC')
    .replaceAll(/\p{Nd}/gu, toAscii)
}

/** A text with the decimal digits of all scripts as ASCII digits. */
export function asciiDigits(text: string): string {
  return text.replaceAll(/(?![0-9])\p{Nd}/gu, toAscii)
}

function toAscii(digit: string): string {
  const point = digit.codePointAt(0)!
  const zero = zeros.find((start) => point >= start && point < start + 10)
  return zero === undefined ? digit : String(point - zero)
}

/**
 * What a written number may mean: several readings, each of one or more numbers. "1.234" is 1234 or 1.234; "05.03.2019" has three
 * numbers.
 */
export function readNumber(written: string): number[][] {
  const groups = written.split(/\D/)
  if (groups.length === 1) return [[Number(written)]]
  const signs = [...written.replaceAll(/\d/g, '')]
  const lastSign = signs.at(-1)!
  const parts = groups.map(Number)
  const isGrouped = (count: number) =>
    /^[1-9]\d{0,2}$/.test(groups[0]!) && groups.slice(1, count).every((group) => group.length === 3)
  const oneSign = new Set(signs).size === 1
  const decimal = [Number(`${groups.slice(0, -1).join('')}.${groups.at(-1)}`)]
  if (signs.length === 1) {
    if (lastSign === ' ') return isGrouped(2) ? [[Number(groups.join(''))], parts] : [parts]
    const readings = isGrouped(2) ? [[Number(groups.join(''))], decimal] : [decimal]
    // "1990,1991" is a list without spaces.
    return lastSign === ',' && groups[0]!.length > 3 ? [...readings, parts] : readings
  }
  if (oneSign) return isGrouped(groups.length) ? [[Number(groups.join(''))]] : [parts]
  const isDecimal = signs.slice(0, -1).every((sign) => sign === signs[0] && sign !== lastSign)
  return isDecimal && isGrouped(groups.length - 1) ? [decimal] : [parts]
}

/** Rounds away the error of binary fractions: 1.1 * 1e6 is 1100000. */
export function exact(value: number): number {
  return Number(value.toPrecision(12))
}

/** The place of the last digit that is not zero: 1e5 for 1,200,000 and 0.1 for 3.5. */
export function precisionOf(value: number): number {
  if (value === 0) return 1
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  return 10 ** (Number(exponent) - (mantissa.split('.')[1]?.length ?? 0))
}
