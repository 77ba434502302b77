import { type Figure, isYear } from './read-figures.ts'

/** What a number may be computed by. */
export type Operation = 'sum' | 'difference' | 'average' | 'percent' | 'quotient' | 'product' | 'count'

/** Words that show how a number of a sentence was computed from others. Pure data. */
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

/** "3 times", "times as many"; not "at all times" and a column of times. */
const multiplies =
  /(?:\d|(?<!\p{L})(?:two|three|four|five|six|seven|eight|nine|ten|twelve|many|several|few)) times(?!\p{L})|(?<!\p{L})times (?:as|more|the|what|that|\d)/iu

/** The operations that a text mentions; `words` are its words in lower case. */
export function readOperations(text: string, words: readonly string[]): ReadonlySet<Operation> {
  const isOperation = (word: string) => word !== 'times' || multiplies.test(text)
  const found = new Set(words.filter(isOperation).flatMap((word) => operationsOfWord.get(word) ?? []))
  for (const [operation, pattern] of Object.entries(spacelessWords) as [Operation, RegExp][])
    if (pattern.test(text)) found.add(operation)
  if (sumSign.test(text)) found.add('sum')
  if (differenceSign.test(text)) found.add('difference')
  if (productSign.test(text)) found.add('product')
  return found
}

/** Most numbers of one group; it bounds the time. */
const maximumOperands = 24
/** Most rows or sentences of one passage that numbers are taken from. */
const maximumParts = 8
/** So few numbers are what is computed, not some of many: two cells of a table, or the only two of a text. */
const exactOperands = 2
/** Largest chance that a wrong number would be accepted because some numbers happen to give it. */
const maximumChance = 0.06
/** Sentences have numbers of many kinds next to each other. */
const maximumChanceOfProse = 0.01

/** Two rows that the sentence names have one sum and one difference in each column. */
const maximumChanceOfPair = 0.2

/** What a number of a sentence may be computed from. */
export interface Operands {
  /** The numbers of the sentence that a passage has. */
  own: readonly number[]
  /** All its numbers: also the quantity that a question names. */
  claimed: readonly number[]
  /** The numbers of each part of the passages that deals with the same, in their order. */
  parts: readonly (readonly number[])[]
  /** The numbers where a row and a column meet that the sentence names. */
  cells: readonly number[]
  /** The numbers of each column of a table in the rows that the sentence names, two rows or more. */
  columns: readonly (readonly number[])[]
  /** Some of `parts` are rows of a table. */
  hasRows: boolean
  /** The numbers of the sentence that no passage has. */
  missing: readonly number[]
  /** The rows of each passage. */
  rowCounts: readonly number[]
  /** The whole columns of numbers of each passage. */
  totals: readonly { sum: number; count: number }[]
}

/**
 * Whether a number results from others by one of the operations that the sentence names. Groups of numbers: those of the sentence itself, of each
 * part of a passage, of each column of these parts, and all of them. The more results a group has near a number, the less its result
 * proves: then it does not count. Time is bounded by the operands. `isElsewhere`: another row or column of the table has the number; then only
 * numbers that the sentence names count.
 */
export function derivedFrom(
  operands: Operands,
  operations: ReadonlySet<Operation>,
): (figure: Figure, isElsewhere: boolean) => boolean {
  const { own, parts, cells, columns, hasRows, rowCounts, totals, claimed, missing } = operands
  const used = parts.slice(0, maximumParts).map((part) => part.slice(0, maximumOperands))
  const all = [...new Map([...own, ...used.flat()].map((value) => [Math.abs(value), value])).values()]
  const exact = [cells, all].find(({ length }) => length === exactOperands)
  const limit = hasRows ? maximumChance : maximumChanceOfProse
  const limitOfPair = operations.has('average') || operations.has('percent') ? limit : maximumChanceOfPair
  // A row may also have what is between two cells, "from 2022 to 2024"; of rows whose whole name is given, with no other parts, all columns count.
  const ofRows = exact === cells && parts.length > 0 ? [] : columns
  const others = exact
    ? used.filter((part) => exact.every((value) => part.includes(value)))
    : [...used, ...columnsOf(used), all]
  const groups = [...new Set([exact ?? cells, ...others])]
    .map((group) => ({ group, limit: group === exact ? Infinity : limit }))
    .concat(ofRows.map((group) => ({ group, limit: group.length === exactOperands ? limitOfPair : limit })))
    .filter(({ group }) => group.length <= maximumOperands)
  const isResult = (value: number, precision: number, isElsewhere: boolean) =>
    (operations.has('count') && rowCounts.includes(value)) ||
    isPairOf(own, { value, precision, operations }) ||
    isTotal(totals, { value, precision, operations }) ||
    groups.some(
      ({ group, limit: own }) =>
        (own > limit || !isElsewhere) &&
        isLikely(group, { value, precision, operations, claimed, hasRows, limit: own }),
    )
  const isCounting = hasRows && claimed.length > 1 && (operations.has('sum') || operations.has('average'))
  return (figure, isElsewhere) =>
    writtenValues(figure).some(
      ([value, precision]) =>
        isResult(value, precision, isElsewhere) ||
        // "Over the three years": how many numbers were added.
        (isCounting && [...used, ...columns].some(({ length }) => length === value)) ||
        // "3 tickets cost 36": the 3 is a quantity.
        (operations.has('product') && missing.some((other) => isMultiple(other, value, all))),
    )
}

/** What a figure may mean, each with the unit of its last digit. */
function writtenValues(figure: Figure): [value: number, precision: number][] {
  if (figure.type !== 'number') return []
  return figure.readings.flatMap((reading) => {
    const [value] = reading
    if (value === undefined || reading.length > 1 || value === 0) return []
    const precision = 10 ** -(String(value).split('.')[1]?.length ?? 0)
    return [1, ...figure.scales].map((scale): [number, number] => [value * scale, precision * scale])
  })
}

/** The numbers at the same place of rows that have equally many. */
function columnsOf(parts: readonly (readonly number[])[]): number[][] {
  const [first] = parts
  if (first === undefined || parts.length < 2 || parts.some(({ length }) => length !== first.length)) return []
  return first.map((_, column) => parts.map((part) => part[column]!))
}

const tiny = 1e-9
const isSame = (left: number, right: number) => Math.abs(left - right) <= Math.abs(right) * tiny

/** Totals with fewer digits are accidents. */
const leastTotalSteps = 20

/** The sum or average of a whole column. */
function isTotal(
  totals: Operands['totals'],
  { value, precision, operations }: Pick<Wanted, 'value' | 'precision' | 'operations'>,
): boolean {
  const isNear = (result: number) => Math.abs(Math.abs(result) - value) <= precision * (0.5 + tiny)
  return (
    value >= precision * leastTotalSteps &&
    totals.some(
      ({ sum, count }) => (operations.has('sum') && isNear(sum)) || (operations.has('average') && isNear(sum / count)),
    )
  )
}

/** The sentence names both numbers itself. */
function isPairOf(
  all: readonly number[],
  { value, precision, operations }: Pick<Wanted, 'value' | 'precision' | 'operations'>,
): boolean {
  if (isYear(value)) return false
  if (!operations.has('sum') && !operations.has('difference')) return false
  const own = all.filter((operand) => !isYear(operand))
  if (own.length > maximumOperands) return false
  const whole = own.reduce((sum, operand) => sum + operand, 0)
  if (own.length > 1 && isSame(whole, value)) return true
  const results = own.length * (own.length - 1)
  if (own.length > exactOperands && (results * precision) / value > maximumChanceOfPair) return false
  return own.some((left, at) =>
    own.slice(at + 1).some((right) => isSame(left + right, value) || isSame(Math.abs(left - right), value)),
  )
}

/** 36 is 3 times a number of the passages. */
function isMultiple(value: number, quantity: number, all: readonly number[]): boolean {
  if (!Number.isInteger(quantity) || quantity < 2 || quantity > 1_000 || value <= quantity) return false
  return (
    all.length <= maximumOperands &&
    all.some((operand) => Math.abs(operand) > 1 && isSame(Math.abs(operand) * quantity, value))
  )
}

interface Wanted {
  value: number
  precision: number
  operations: ReadonlySet<Operation>
  claimed: readonly number[]
  /** Of a table: its sums may be rounded. Those of sentences are not. */
  hasRows: boolean
  /** Largest chance of an accident; infinite where the sentence names these numbers, and no others. */
  limit: number
}

/** Whether an operation on the group gives the number, and that is no accident. */
function isLikely(group: readonly number[], wanted: Wanted): boolean {
  const { value, precision, operations, claimed, limit, hasRows } = wanted
  let near = 0
  let isFound = false
  // Nobody computes a year from another one.
  const signed = isYear(value) ? group.filter((operand) => !isYear(operand)) : group
  const take = (signedResult: number, isRounded = true) => {
    const result = Math.abs(signedResult)
    if (Math.abs(result - value) > value / 2) return
    near++
    isFound ||= isRounded ? Math.abs(result - value) <= precision * (0.5 + tiny) : isSame(result, value)
  }
  // Reports write costs as negative numbers, and sentences leave the sign out.
  const plain = signed.map(Math.abs)
  for (const numbers of signed.some((operand) => operand < 0) ? [plain, signed] : [plain]) {
    if (operations.has('sum') || operations.has('difference')) takeSums(numbers, (result) => take(result, hasRows))
    if (operations.has('average')) takeAverages(numbers, take)
    if (operations.has('percent')) takePercents(numbers, take)
    if (operations.has('quotient')) takeQuotients(numbers, take)
  }
  if (operations.has('product')) takeProducts(plain, claimed, take)
  return isFound && (near * precision) / value <= limit
}

type Take = (result: number) => void

/** Of numbers that follow each other, and of any two. */
function takeSums(group: readonly number[], take: Take): void {
  for (const [at, left] of group.entries()) {
    let sum = left
    for (const [distance, right] of group.slice(at + 1).entries()) {
      sum += right
      take(sum)
      if (distance > 0) take(left + right)
      take(Math.abs(left - right))
    }
  }
}

function takeAverages(group: readonly number[], take: Take): void {
  for (const [at, left] of group.entries()) {
    let sum = left
    for (const [distance, right] of group.slice(at + 1).entries()) {
      sum += right
      take(sum / (distance + 2))
      if (distance > 0) take((left + right) / 2)
    }
  }
}

function takePercents(group: readonly number[], take: Take): void {
  for (const left of group) {
    for (const right of group) {
      if (left === right || right === 0) continue
      take((left / right) * 100)
      take(((left - right) / right) * 100)
    }
  }
}

function takeQuotients(group: readonly number[], take: Take): void {
  for (const left of group) for (const right of group) if (left !== right && right !== 0) take(left / right)
}

function takeProducts(group: readonly number[], claimed: readonly number[], take: Take): void {
  for (const quantity of claimed.slice(0, maximumOperands)) {
    if (!Number.isInteger(quantity) || quantity < 2 || quantity > 1_000) continue
    for (const operand of group) if (operand > 1) take(operand * quantity)
  }
}
