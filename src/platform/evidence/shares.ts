/** Shares in words, as percent: "a quarter of", "one in five", "doubled". */

/** A share of a text. */
export interface Share {
  /** 50 for "half". */
  percent: number
  /** "About half". */
  isRounded: boolean
  /** From two on: those of "two in five". */
  numbers: number[]
}

const numbers: Readonly<Record<string, number>> = {
  a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, twenty: 20,
  ein: 1, eine: 1, einem: 1, einen: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, un: 1, une: 1, deux: 2, trois: 3, quatre: 4,
  uno: 1, una: 1, dos: 2, tres: 3, due: 2, tre: 3, um: 1, uma: 1, dois: 2, três: 3,
} // prettier-ignore
/** Parts of a whole, in the singular and the plural. */
const parts: Readonly<Record<string, number>> = {
  half: 2, halves: 2, third: 3, thirds: 3, quarter: 4, quarters: 4, fourths: 4, fifth: 5, fifths: 5, sixth: 6, sixths: 6,
  eighth: 8, eighths: 8, tenth: 10, tenths: 10, drittel: 3, viertel: 4, fünftel: 5, achtel: 8, zehntel: 10, tiers: 3,
  quart: 4, quarts: 4, cinquième: 5, cinquièmes: 5, tercio: 3, tercios: 3, cuarto: 4, cuartos: 4, terzo: 3, terzi: 3,
  quarti: 4, terço: 3, terços: 3,
} // prettier-ignore
const ordinals: Readonly<Record<string, number>> = {
  zweite: 2, dritte: 3, vierte: 4, fünfte: 5, zehnte: 10, second: 2, third: 3, fourth: 4, fifth: 5, tenth: 10,
} // prettier-ignore

const anyOf = (words: Readonly<Record<string, number>>) => Object.keys(words).join('|')
const start = String.raw`(?<![\p{L}\p{M}\p{N}])`
const end = String.raw`(?![\p{L}\p{M}\p{N}])`
/** Hours, days and dozens are separate amounts. */
const noAmount =
  '(?! (?:of )?(?:an?|one|eines?|einer) (?:hour|day|year|month|century|dozen|mile|million|stunde|jahres|jahrhunderts)| (?:hours?|years?|past|time|stunden?|jahre?)(?![\\p{L}]))'
const whole = String.raw`(?:half(?=${'(?: of| the| as| all| that| its| their| his| her| our| your)(?!\\p{L})|\\s*(?:[.,;)]|$)'})|hälfte|moitié|mitad|metà|metade)`
const pattern = new RegExp(
  `${start}(?:(?<by>(?:by|um|of) )?(?<count>${anyOf(numbers)}|\\d{1,2})[ -](?<part>${anyOf(parts)})${end}${noAmount}` +
    `|(?<few>${anyOf(numbers)}|(?<![\\d.,])\\d{1,2}) (?:in|out of|von|sur|de cada|su|em cada) (?:every )?(?<all>${anyOf(numbers)}|\\d{1,3})${end}(?![.,:]\\d)` +
    `|(?:every|jede[rsmn]?) (?<each>${anyOf(ordinals)})[rsnm]?${end}` +
    `|(?<!(?:first|second|latter|other|lower|upper|zweiten?|ersten?) )(?<whole>${whole})${end}${noAmount})`,
  'giu',
)
/** What grew to twice its size did so by 100 %. */
const changes: readonly (readonly [RegExp, number])[] = [
  [new RegExp(`${start}(?:doubl(?:e[sd]?|ing)|verdoppel\\p{L}*|doubl[ée]\\p{L}{0,2}|(?:du|re)plic\\p{L}+|raddoppi\\p{L}+)${end}`, 'iu'), 100],
  [new RegExp(`${start}(?:tripl(?:e[sd]?|ing)|trebl\\p{L}+|verdreifach\\p{L}*|tripl[ée]\\p{L}{0,2}|triplic\\p{L}+)${end}`, 'iu'), 200],
  [new RegExp(`${start}(?:quadrupl\\p{L}+|vervierfach\\p{L}*)${end}`, 'iu'), 300],
  [new RegExp(`${start}(?:halv(?:e[sd]?|ing)|halbier\\p{L}*)${end}`, 'iu'), 50],
] // prettier-ignore
const approximation =
  /(?:about|around|nearly|almost|roughly|approximately|over|under|than|some|only|ungefähr|etwa|rund|fast|knapp|gut|environ|presque|casi|quasi|circa)(?: the| a| die| la)?\s*$/iu
const unitsBefore = 24
/** What follows a share of something. */
const ofWhole =
  /^(?: (?:of|der|des|von|aller?|de|du|des|del|della|dei|degli|dos?|das?|the|more|less|larger|smaller|higher|lower)(?![\p{L}])| d['’]|\s*(?:[.,;:)]|$))/iu
const unitsAfter = 12

/** The shares that a text (as `normaliseNumerals` returns it) has in words, and the text without them. Linear. */
export function readShares(text: string): { shares: Share[]; rest: string } {
  const shares: Share[] = []
  const rest = text.replaceAll(pattern, (...match) => {
    const [index, , groups] = match.slice(-3) as [number, string, Record<string, string | undefined>]
    const end = index + (match[0] as string).length
    const { by, count, part, few, all, each } = groups
    // "A third party" is no share.
    if (part && !by && !ofWhole.test(text.slice(end, end + unitsAfter))) return ' '
    const percent = part
      ? (100 * numberOf(count!)) / parts[part.toLowerCase()]!
      : all
        ? (100 * numberOf(few!)) / numberOf(all)
        : each
          ? 100 / ordinals[each.toLowerCase()]!
          : 50
    if (percent > 0 && percent < 100)
      shares.push({
        percent,
        isRounded: approximation.test(text.slice(Math.max(0, index - unitsBefore), index)),
        numbers: [count, few, all].flatMap((one) => (one && numberOf(one) > 1 ? [numberOf(one)] : [])),
      })
    return ' '
  })
  return { shares, rest: shares.length === 0 ? text : rest }
}

/** By how many percent something changed, by one word of a text: "doubled". */
export function readChanges(text: string): number[] {
  return changes.flatMap(([word, percent]) => (word.test(text) ? [percent] : []))
}

const shareWords = new Set(
  `${Object.keys(parts).join(' ')} hälfte moitié mitad metà metade percent percentage per-cent prozent pourcent ciento`.split(
    ' ',
  ),
)
/** Whether a word (lower case) only states a share: a text may write the share in another form. */
export const isShareWord = (word: string) => shareWords.has(word)

const numberOf = (written: string) => numbers[written.toLowerCase()] ?? Number(written)

/** "About half" is 44 % to 56 %. */
const roundedReach = 6

/** How a share may be written as a number: 66, 66.7 or 67 for two thirds. */
export const writtenForms = (percent: number) => [
  ...new Set([Math.floor(percent), Math.round(percent), Math.round(percent * 10) / 10]),
]

/** The segments that have this share, or nearly. `shares`: segments by percent, as `Math.round` returns it. */
export function findShare(
  shares: ReadonlyMap<number, readonly number[]>,
  { percent, isRounded }: Share,
): readonly number[] {
  const reach = isRounded ? roundedReach : 0
  const least = Math.round(percent) - reach
  return Array.from({ length: 2 * reach + 1 }, (_, step) => shares.get(least + step) ?? []).flat()
}
