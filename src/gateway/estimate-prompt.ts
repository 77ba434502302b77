import type { ProviderMessage } from '../providers/index.ts'

/**
 * Token counts without a tokenizer run: linear, a few hundred MB/s, safe on the hot path. Two figures come out: an estimate (what
 * a crash bills) and a bound (what a hold covers). A byte-level BPE never makes more tokens than UTF-8 bytes; runs of ASCII
 * letters make far fewer, which is what the bound uses. Checked against o200k and cl100k in token-count.test.ts.
 */
export interface PromptCount {
  estimate: number
  bound: number
}

/** Role markers and separators; the compatible API's own guide says 3 to 4, providers' templates go up to about 10. */
const tokensPerMessageBound = 12
const tokensPerMessageEstimate = 4
const tokensPerPromptBound = 32

export function countPrompt(messages: readonly ProviderMessage[]): PromptCount {
  let estimate = 3
  let bound = tokensPerPromptBound
  for (const message of messages) {
    const text = countText(message.content)
    estimate += text.estimate + tokensPerMessageEstimate
    bound += text.bound + tokensPerMessageBound
    for (const call of message.toolCalls ?? []) bound += Buffer.byteLength(call.argumentsJson) + call.name.length
  }
  return { estimate, bound }
}

/** Longest run of ASCII letters that the bound takes for a word; longer ones are noise (base64) and count 1 per letter. */
const wordLength = 14

/** Estimate and bound of one text. */
export function countText(text: string): PromptCount {
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
      consonants = vowels.has(unit | 32) ? 0 : consonants + 1
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

/** a, e, i, o, u and y. */
const vowels: ReadonlySet<number> = new Set([97, 101, 105, 111, 117, 121])

/** Words of a language make few tokens; letters at random, known by three consonants in a row, may make one each. */
function boundOfLetters(run: number, longestConsonants: number): number {
  return run <= 3 || run > wordLength || longestConsonants >= 3 ? run : 1.5 + run / 2
}

/** One space melts into the word or sign that follows, never into a digit; those before it make a token of their own. */
function boundOfSpaces(count: number, next: number): number {
  const melts = next > 32 && next < 127 && !(next >= 48 && next <= 57)
  return (count === 1 ? 0 : count / 2) + (melts ? 0.5 : 1)
}

/**
 * Exact count by OpenAI's o200k tokenizer, the best guess for other families too. Loads 2 MB of ranks on first use and takes about
 * 1 ms per 10 KB: only for answers whose provider sent no usage.
 */
export async function countTokens(text: string): Promise<number> {
  const tokenizer = await import('gpt-tokenizer/encoding/o200k_base')
  return tokenizer.countTokens(text, { allowedSpecial: 'all' })
}
