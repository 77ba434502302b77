import type { Language } from '../language/index.ts'
import { isDayOfWeek } from './amounts.ts'
import { currencyOf, numberOfWord, unitOfWord } from './read-number.ts'
import { wordSet } from './words.ts'

/** Seconds of what `unitOfWord` does not know. Pure data. */
const day = 86_400
const week = 604_800
const month = 2_628_000
const quarter = 3 * month
const year = 12 * month
const wordsBySeconds = (lines: readonly (readonly [number, string])[]) =>
  new Map(lines.flatMap(([seconds, words]) => words.split(' ').map((word) => [word, seconds] as const)))

const periods = wordsBySeconds([
  [day, 'night nights morning mornings evening evenings afternoon afternoons weekday weekdays nacht morgen abend nuit matin soir noche mañana tarde notte mattina sera avond ochtend'],
  [quarter, 'quarter quarters quartal quartals quartalen trimestre trimestres trimestri kwartaal'],
  [year, 'annum spring summer autumn winter season frühling frühjahr sommer herbst'],
]) // prettier-ignore
const adverbs = wordsBySeconds([
  [3_600, 'hourly stündlich'],
  [day, 'daily nightly täglich tägliche täglichen tageweise quotidien quotidienne quotidiennement diario diaria diariamente giornaliero giornaliera quotidianamente diário diária dagelijks dagelijkse'],
  [week, 'weekly wöchentlich wöchentliche wöchentlichen hebdomadaire hebdomadaires semanal semanales semanalmente settimanale settimanali wekelijks wekelijkse'],
  [2 * week, 'fortnightly vierzehntäglich'],
  [month, 'monthly monatlich monatliche monatlichen mensuel mensuelle mensuellement mensual mensuales mensualmente mensile mensili mensilmente mensal mensalmente maandelijks maandelijkse'],
  [quarter, 'quarterly vierteljährlich vierteljährliche trimestriel trimestrielle trimestral trimestrale'],
  [year / 2, 'semiannually halbjährlich halbjährliche semestriel semestrielle semestral semestrale'],
  [year, 'yearly annually jährlich jährliche jährlichen annuellement anualmente annualmente jaarlijks jaarlijkse'],
]) // prettier-ignore
/** Directly before a period: "per day", "jeden Tag". */
const each = wordSet(
  'per every each pro je jeden jede jedes jeder jedem par chaque por cada ogni elke elk iedere ieder',
)
/** Before a number of them: "every two weeks", "alle 14 Tage". */
const everyFew = wordSet('every each per alle pro cada ogni elke iedere om')
const everyOther = wordSet('other second zweite zweiten zweites')
const articles = wordSet('a an one am im der die das pro al alla all ao à la le el du de un una une')
const allOf = wordSet('tous toutes todos todas tutti tutte')
const articlesOfAll = wordSet('les los las i le os as gli')
const times = wordSet('times time mal fois veces vez volte volta vezes keer')
const oneTime = new Map(
  Object.entries({
    once: 1,
    twice: 2,
    thrice: 3,
    einmal: 1,
    zweimal: 2,
    dreimal: 3,
    viermal: 4,
    eenmaal: 1,
    tweemaal: 2,
  }),
)
const ofRange = wordSet('- – to through bis au al tot till until')
const percents = wordSet('% percent prozent procent')

const tokenPattern = /\p{L}[\p{L}\p{M}]*|\d+(?:[.,]\d+)*|[€$£%–-]/gu

/**
 * The intervals in seconds of what a part of a text (lower case) states again and again, or for each of a time: "weekly", "every two weeks",
 * "twice a year", "5 euros per hour". Linear.
 */
export function readRates(part: string, latin: Language): number[] {
  const tokens = Array.from(part.matchAll(tokenPattern), ([token]) => token)
  return tokens.flatMap((token, at) => {
    const found = adverbs.get(token)
    if (found !== undefined) return [found / timesBefore(tokens, at, latin)]
    const size = periodOf(token, latin)
    if (size === undefined || (isDayOfWeek(token, latin) && ofRange.has(tokens[at + 1] ?? ''))) return []
    const [length, count] = markBefore(tokens, at, latin)
    return length === 0 ? [] : [(size * count) / timesBefore(tokens, at - length, latin)]
  })
}

const plainSizes = new Set([1, 60, 3_600, day, week, month, year])
/** "Per day", and not "twice a day". */
export const isPlainRate = (seconds: number) => plainSizes.has(seconds)

/** As `quantityKeys`: "twice a year" and "every 6 months". */
export const keysOfRates = (part: string, latin: Language) =>
  readRates(part, latin)
    .filter((seconds) => !isPlainRate(seconds))
    .map((seconds) => `time ${seconds}`)

/** Whether a word (lower case) states how often, or is a part of it: "weekly", "week". */
export const isOfRate = (word: string, latin: Language) => adverbs.has(word) || periodOf(word, latin) !== undefined

function periodOf(word: string, latin: Language): number | undefined {
  const unit = unitOfWord(word)
  if (unit?.measure === 'time') return unit.size
  return periods.get(word) ?? (isDayOfWeek(word, latin) ? week : undefined)
}

const valueOf = (token: string, latin: Language) => (/^\d+$/.test(token) ? Number(token) : numberOfWord(token, latin))

/** How many tokens before a period show that something is for each of it, and for how many of it; 0 where none does. */
function markBefore(tokens: readonly string[], at: number, latin: Language): [length: number, count: number] {
  const [before = '', first = ''] = [tokens[at - 1], tokens[at - 2]]
  if (each.has(before)) return [1, 1]
  if (everyOther.has(before) && each.has(first)) return [2, 2]
  if (articlesOfAll.has(before) && allOf.has(first)) return [2, 1]
  const count = valueOf(before, latin)
  if (count !== undefined && everyFew.has(first)) return [2, count]
  if (count !== undefined && articlesOfAll.has(first) && allOf.has(tokens[at - 3] ?? '')) return [3, count]
  // "100 requests a minute".
  const isAmount = isCounted(first, latin) || valueOf(tokens[at - 3] ?? '', latin) !== undefined
  return articles.has(before) && isAmount ? [1, 1] : [0, 0]
}

const isCounted = (token: string, latin: Language) =>
  /^\d/.test(token) ||
  [oneTime, times, percents].some((words) => words.has(token)) ||
  [valueOf(token, latin), currencyOf(token), unitOfWord(token)].some((found) => found !== undefined)

/** "Twice", "three times" before a place. */
function timesBefore(tokens: readonly string[], at: number, latin: Language): number {
  const before = tokens[at - 1] ?? ''
  if (oneTime.has(before)) return oneTime.get(before)!
  return times.has(before) ? (valueOf(tokens[at - 2] ?? '', latin) ?? 1) : 1
}
