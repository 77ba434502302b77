import type { JsonText } from '../../platform/bodies/index.ts'

/**
 * Token counts without a tokenizer run. Two figures come out: an estimate (what a crash bills) and a bound (what a hold covers). A
 * byte-level BPE never makes more tokens than UTF-8 bytes; runs of ASCII letters make far fewer, which is what the bound uses.
 * Checked against o200k and cl100k in estimate-tokens.test.ts.
 */
export interface TokenEstimate {
  estimate: number
  bound: number
}

/** Longest run of ASCII letters that the bound takes for a word; longer ones are noise (base64) and count 1 per letter. */
const wordLength = 14

/** Estimate and bound of one text, 10 ms for a million UTF-16 units. */
export function estimateTokens(text: string): TokenEstimate {
  let estimate = 0
  let bound = 0
  let run = 0
  let consonants = 0
  let longestConsonants = 0
  let spaces = 0
  for (let index = 0; index <= text.length; index++) {
    const unit = index < text.length ? text.charCodeAt(index) : 0
    if (spaces > 0 && unit !== 32) {
      bound += boundOfSpaces(spaces, unit)
      spaces = 0
    }
    if ((unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90)) {
      run++
      // Sixth bit: lower case.
      consonants = isVowel(unit | 32) ? 0 : consonants + 1
      if (consonants > longestConsonants) longestConsonants = consonants
      continue
    }
    if (run > 0) {
      estimate += run <= 6 ? 1 : run / 5
      bound += boundOfLetters(run, longestConsonants)
      run = consonants = longestConsonants = 0
    }
    if (index === text.length) break
    if (unit === 32) {
      spaces++
    } else if (unit < 128) {
      estimate += 0.7
      bound += 1
    } else {
      // UTF-16 units above ASCII take 2 or 3 bytes (a surrogate pair 4, so 2 each).
      estimate += unit >= 0x3000 ? 0.9 : 0.5
      bound += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
    }
  }
  return { estimate: Math.ceil(estimate), bound: Math.ceil(bound) }
}

const sampleBytes = 2_048
const windowBytes = 256

/**
 * The same for a long text of a body, which is not decoded: the estimate is that of a sample, and the bound is its bytes of UTF-8, a third more
 * than that of prose. Takes 15 µs.
 */
export function estimateLongText(text: JsonText): TokenEstimate {
  const bound = text.maximumTextBytes
  const sample = text.sample(sampleBytes, windowBytes)
  const estimate = Math.ceil((estimateTokens(sample.text).estimate * text.bytes) / sample.bytes)
  return { estimate: Math.min(estimate, bound), bound }
}

/** A text with more units than this is sampled. */
const sampledUnits = 4_096
const sampledWindows = sampleBytes / windowBytes

/**
 * The same for JSON, such as definitions of tools: that of a long one is the estimate of a sample, and its bytes of UTF-8 bound it.
 */
export function estimateJson(json: string): TokenEstimate {
  if (json.length <= sampledUnits) return estimateTokens(json)
  const distance = json.length / sampledWindows
  let estimate = 0
  for (let window = 0; window < sampledWindows; window++) {
    const start = Math.floor(window * distance + (distance - windowBytes) / 2)
    estimate += estimateTokens(json.slice(start, start + windowBytes)).estimate
  }
  const bound = Buffer.byteLength(json)
  return { estimate: Math.min(Math.ceil((estimate * json.length) / sampleBytes), bound), bound }
}

/** One bit for each letter: a, e, i, o, u and y. */
const vowels = [...'aeiouy'].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) - 97)), 0)

function isVowel(lowerCaseUnit: number): boolean {
  return ((vowels >> (lowerCaseUnit - 97)) & 1) === 1
}

/** Words of a language make few tokens; letters at random, known by three consonants in a row, may make one each. */
function boundOfLetters(run: number, longestConsonants: number): number {
  return run <= 3 || run > wordLength || longestConsonants >= 3 ? run : 1.5 + run / 2
}

/** One space merges with the following word or sign, never with a digit; earlier spaces make a separate token. */
function boundOfSpaces(count: number, next: number): number {
  const melts = next > 32 && next < 127 && !(next >= 48 && next <= 57)
  return (count === 1 ? 0 : count / 2) + (melts ? 0.5 : 1)
}
