import { languageModel } from './language-models.ts'
import { createLegacyDecoder, legacyEncodings, type LegacyEncoding } from './legacy-encodings.ts'

/** The score looks at this much of the lines that are not ASCII; more changes no verdict and costs time. */
const scoredBytes = 6 * 1024
/** An encoding in which more of the characters beyond ASCII than this are broken is not the file's. */
const tolerableDamage = 0.05

/** Costs, in nats, of characters other than letters. */
const usualSign = 6
const rareSign = 10
/** A sign of a drawn table that differs from the one before it. */
const boxSign = 7
const brokenSign = 15
/** A quotation mark or symbol inside a word: what DOS and Mac letters become in a Windows encoding. */
const innerSign = 9
/** Capitals inside a word: typical of the wrong one of two Cyrillic encodings. */
const innerCapital = 7
/** Macs wrote carriage returns alone; DOS and Windows wrote both. */
const lineEndHint = 4

/**
 * The most plausible encoding of bytes that are not UTF-8: the one in which they are the most probable text of one of its
 * languages. The signals are validity of the bytes, script, pairs of letters, capitals, and line ends.
 */
export function guessEncoding(sample: Uint8Array): string {
  const bytes = informativeLines(sample)
  const isCut = bytes.length >= scoredBytes
  const isMac = bytes.includes(0x0d) && !bytes.includes(0x0a)
  let best = { label: 'windows-1252', cost: Infinity }
  for (const encoding of legacyEncodings) {
    const text = createLegacyDecoder(encoding.label)?.decode(bytes, { stream: isCut })
    if (text === undefined || isBroken(text)) continue
    const cost = textCost(text, encoding) - encoding.prior - (isMac && /mac/.test(encoding.label) ? lineEndHint : 0)
    if (cost < best.cost) best = { label: encoding.label, cost }
  }
  return best.label
}

/** The lines that hold bytes beyond ASCII; ASCII reads the same in all candidates. */
function informativeLines(sample: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = []
  let taken = 0
  for (let from = 0; from < sample.length && taken < scoredBytes;) {
    const lineEnd = sample.indexOf(0x0a, from)
    const to = Math.min(lineEnd === -1 ? sample.length : lineEnd + 1, from + scoredBytes - taken)
    const line = sample.subarray(from, to)
    if (line.some((byte) => byte >= 0x80)) {
      lines.push(line)
      taken += line.length
    }
    from = lineEnd === -1 ? sample.length : lineEnd + 1
  }
  return new Uint8Array(Buffer.concat(lines))
}

function isBroken(text: string): boolean {
  const beyond = text.match(/\P{ASCII}/gu)?.length ?? 0
  const broken = text.match(/\ufffd/g)?.length ?? 0
  return broken > beyond * tolerableDamage
}

/** The cost in the language that fits best. Other texts in it may be English. */
function textCost(text: string, { languages }: LegacyEncoding): number {
  const english = languageModel('en')
  const models = languages.map((language) => languageModel(language))
  const costs = models.map(() => 0)
  let shared = 0
  const normal = text.normalize('NFC')
  for (const { 0: run, index: at } of normal.matchAll(/[\p{L}\p{M}]+|[^\p{L}\p{M}]+/gu)) {
    if (!/^[\p{L}\p{M}]/u.test(run)) {
      shared += signCost(run)
      // The text is split into letters and signs in turn: a sign that is neither first nor last has letters on both sides.
      if (at > 0 && at + run.length < normal.length && partsWords(run)) shared += innerSign
      continue
    }
    const word = run.toLowerCase()
    shared += capitalCost(run)
    const asEnglish = /^[a-z]+$/.test(word) ? english.word(word) : Infinity
    for (const [index, model] of models.entries()) costs[index]! += Math.min(model.word(word), asEnglish)
  }
  return shared + Math.min(...costs)
}

const usualSigns = new Set('“”„‘’‚«»‹›–—…•·°€£§©®№¿¡´\u00a0、。「」『』（），：；！？《》・ー～％¥')

function signCost(signs: string): number {
  let cost = 0
  let previous = ''
  for (const sign of signs) {
    if (sign >= '\u0080') {
      if (sign === '\ufffd' || /[\p{Cc}\p{Co}\p{Cn}]/u.test(sign)) cost += brokenSign
      else if (sign >= '\u2500' && sign <= '\u259f') cost += sign === previous ? 1.5 : boxSign
      else if (usualSigns.has(sign)) cost += usualSign
      else cost += rareSign
    }
    previous = sign
  }
  return cost
}

/** A sign that is used before or after words, but not inside of one or on their other side. */
function partsWords(signs: string): boolean {
  if (signs.length === 1) return signs >= '\u0080' && !'’‘–—…·•'.includes(signs) && signs < '\u2e00'
  return /^[„‚]|”$/.test(signs)
}

/** Lower-case letters before a capital, counted once each. */
function capitalCost(word: string): number {
  const inner = word.match(/\p{Ll}(?=\p{Lu})/gu)?.length ?? 0
  return inner * innerCapital
}
