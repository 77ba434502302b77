import { stopwords as arabic } from '@orama/stopwords/arabic'
import { stopwords as bulgarian } from '@orama/stopwords/bulgarian'
import { stopwords as danish } from '@orama/stopwords/danish'
import { stopwords as dutch } from '@orama/stopwords/dutch'
import { stopwords as english } from '@orama/stopwords/english'
import { stopwords as finnish } from '@orama/stopwords/finnish'
import { stopwords as french } from '@orama/stopwords/french'
import { stopwords as german } from '@orama/stopwords/german'
import { stopwords as greek } from '@orama/stopwords/greek'
import { stopwords as hungarian } from '@orama/stopwords/hungarian'
import { stopwords as italian } from '@orama/stopwords/italian'
import { stopwords as norwegian } from '@orama/stopwords/norwegian'
import { stopwords as portuguese } from '@orama/stopwords/portuguese'
import { stopwords as romanian } from '@orama/stopwords/romanian'
import { stopwords as russian } from '@orama/stopwords/russian'
import { stopwords as spanish } from '@orama/stopwords/spanish'
import { stopwords as swedish } from '@orama/stopwords/swedish'
import { stopwords as turkish } from '@orama/stopwords/turkish'
import { stopwords as ukrainian } from '@orama/stopwords/ukrainian'
import samples from './language-samples.json' with { type: 'json' }

/** How much text costs in nats (negative natural logarithm of its probability) if it is in the model's language. */
export interface LanguageModel {
  /** A run of letters in lower case. */
  word(letters: string): number
}

/**
 * Sentences, together with the names of places, languages and currencies of the Unicode locale data (CLDR, part of Node), show which
 * letters follow each other in a language. Characters are those that make up most of running text.
 */
const { commonCharacters } = samples
const languageSamples: Record<string, string> = samples.sentences

const stopwords: Record<string, readonly string[]> = {
  ar: arabic,
  bg: bulgarian,
  da: danish,
  de: german,
  el: greek,
  en: english,
  es: spanish,
  fi: finnish,
  fr: french,
  hu: hungarian,
  it: italian,
  nl: dutch,
  no: norwegian,
  pt: portuguese,
  ro: romanian,
  ru: russian,
  sv: swedish,
  tr: turkish,
  uk: ukrainian,
}

/** A letter that the language does not write. */
const foreignLetter = 13
/** Running text is more typical of a language than its names of countries and currencies. */
const sampleWeight = 8
const stopwordWeight = 1
const nameWeight = 0.4

const models = new Map<string, LanguageModel>()

/** The model of a language, built at its first use: about 5 ms and 50 KB. */
export function languageModel(language: string): LanguageModel {
  let model = models.get(language)
  if (!model)
    models.set(language, (model = language in commonCharacters ? eastAsian(language as EastAsian) : letters(language)))
  return model
}

function letters(language: string): LanguageModel {
  const counts = new Map<string, number>()
  const totals = new Map<string, { count: number; followers: number }>()
  const single = new Map<string, number>()
  let all = 0
  const learn = (text: string, weight: number) => {
    for (const [word] of text
      .normalize('NFC')
      .toLowerCase()
      .matchAll(/[\p{L}\p{M}]+/gu)) {
      let previous = ' '
      for (const letter of `${word} `) {
        const pair = previous + letter
        const total = totals.get(previous) ?? { count: 0, followers: 0 }
        if (!counts.has(pair)) total.followers += 1
        total.count += weight
        totals.set(previous, total)
        counts.set(pair, (counts.get(pair) ?? 0) + weight)
        single.set(letter, (single.get(letter) ?? 0) + weight)
        all += weight
        previous = letter
      }
    }
  }
  for (const write of language === 'ro' ? [withCedillas, withCommas] : [String]) {
    learn(write(languageSamples[language] ?? ''), sampleWeight)
    for (const word of stopwords[language] ?? []) learn(write(word), stopwordWeight)
    for (const name of localeNames(language)) learn(write(name), nameWeight)
  }

  const pairCosts = new Map<string, number>()
  const costOf = (previous: string, letter: string): number => {
    const pair = previous + letter
    const known = pairCosts.get(pair)
    if (known !== undefined) return known
    const alone = single.get(letter)
    let cost = foreignLetter
    if (alone !== undefined) {
      const { count, followers } = totals.get(previous) ?? { count: 0, followers: 1 }
      const unigram = alone / all
      cost = -Math.log(((counts.get(pair) ?? 0) + followers * unigram) / (count + followers))
    }
    // A hostile text holds no more pairs than this of letters that the language writes.
    if (alone !== undefined && pairCosts.size < 50_000) pairCosts.set(pair, cost)
    return cost
  }
  return {
    word(text) {
      let cost = 0
      let previous = ' '
      for (const letter of text) {
        cost += costOf(previous, letter)
        previous = letter
      }
      return cost + costOf(previous, ' ')
    },
  }
}

/** Romanian is written with commas below its letters, and with cedillas in the encodings that lack them. */
const withCedillas = (text: string) =>
  text.replaceAll('ș', 'ş').replaceAll('ț', 'ţ').replaceAll('Ș', 'Ş').replaceAll('Ț', 'Ţ')
const withCommas = (text: string) =>
  text.replaceAll('ş', 'ș').replaceAll('ţ', 'ț').replaceAll('Ş', 'Ș').replaceAll('Ţ', 'Ț')

/** Names of places, languages and currencies in a language, from the locale data of the runtime. */
function* localeNames(language: string): Generator<string> {
  const alphabet = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index))
  const pairs = alphabet.flatMap((first) => alphabet.map((second) => first + second))
  const codes = {
    region: pairs.map((pair) => pair.toUpperCase()),
    language: pairs,
    currency: Intl.supportedValuesOf('currency'),
  }
  for (const type of ['region', 'language', 'currency'] as const) {
    const names = new Intl.DisplayNames(language, { type, fallback: 'none' })
    for (const code of codes[type]) yield names.of(code) ?? ''
  }
}

type EastAsian = keyof typeof commonCharacters

/** Shares of kinds of characters in running text of a language, and how many characters a kind holds. */
const eastAsianKinds: Record<EastAsian, { label: string; from: number; to: number; share: number; size: number }[]> = {
  // First bytes of the rows that hold the characters in daily use, by national standard; then the rest of it.
  simplified: [
    { label: 'gb18030', from: 0xb0, to: 0xd7, share: 0.35, size: 3755 },
    { label: 'gb18030', from: 0xd8, to: 0xf7, share: 0.02, size: 3008 },
  ],
  traditional: [
    { label: 'big5', from: 0xa4, to: 0xc6, share: 0.35, size: 5401 },
    { label: 'big5', from: 0xc9, to: 0xf9, share: 0.02, size: 7652 },
  ],
  japanese: [
    { label: 'euc-jp', from: 0xa4, to: 0xa4, share: 0.45, size: 60 },
    { label: 'euc-jp', from: 0xa5, to: 0xa5, share: 0.12, size: 80 },
    { label: 'euc-jp', from: 0xb0, to: 0xcf, share: 0.2, size: 2965 },
    { label: 'euc-jp', from: 0xd0, to: 0xf4, share: 0.005, size: 3390 },
  ],
  korean: [
    { label: 'euc-kr', from: 0xb0, to: 0xc8, share: 0.4, size: 2350 },
    { label: 'euc-kr', from: 0xca, to: 0xfd, share: 0.01, size: 4888 },
  ],
}
/** Share of the listed common characters in a text of the language. */
const commonShare = { simplified: 0.55, traditional: 0.55, japanese: 0.15, korean: 0.55 }
const otherCharacter = 14

function eastAsian(language: EastAsian): LanguageModel {
  const costs = new Map<string, number>()
  for (const { label, from, to, share, size } of eastAsianKinds[language]) {
    const decoder = new TextDecoder(label)
    for (let lead = from; lead <= to; lead += 1)
      for (let trail = 0x40; trail <= 0xfe; trail += 1) {
        if (trail === 0x7f || (label !== 'big5' && trail < 0xa1)) continue
        const character = decoder.decode(Uint8Array.of(lead, trail))
        if (/^\p{L}$/u.test(character) && !costs.has(character)) costs.set(character, -Math.log(share / size))
      }
  }
  const common = new Set(commonCharacters[language])
  for (const character of common) costs.set(character, -Math.log(commonShare[language] / common.size))
  return {
    word(text) {
      let cost = 0
      for (const character of text) cost += costs.get(character) ?? otherCharacter
      return cost
    },
  }
}
