import { type PdfCharacter, PdfCharacters } from './character.ts'

/** The scripts of India have their letters at the same places of their Unicode blocks, of this size each. */
const blockSize = 0x80
const firstBlock = 0x900
const lastBlock = 0xd00

/** Vowel signs that are drawn before the consonants that they follow in writing, by block. */
const drawnFirst: Record<number, readonly number[]> = {
  0x900: [0x3f],
  0x980: [0x3f, 0x47, 0x48],
  0xa00: [0x3f],
  0xa80: [0x3f],
  0xb00: [0x47],
  0xb80: [0x46, 0x47, 0x48],
  0xd00: [0x46, 0x47, 0x48],
}
/** Blocks whose `r` before consonants is drawn over the end of the syllable. */
const hasReph = new Set([0x900, 0x980, 0xa80, 0xb00])
const [ra, virama, longA, signE, signAi, signO, signAu] = [0x30, 0x4d, 0x3e, 0x47, 0x48, 0x4b, 0x4c]

type Kind = 'consonant' | 'nukta' | 'virama' | 'first' | 'sign' | 'nasal' | 'other'

/** Fewest vowel signs at places where only drawn order has them. */
const minimumProofs = 2
/** Longest syllable that is looked through. */
const maximumSyllable = 12
/** A gap of less than this share of the height is no blank. */
const closeGap = 0.03

/**
 * The characters of a page in scripts of India in the order of writing, and their places before. Programs such as XeTeX state letters in
 * the order in which they are drawn. Null for pages in the order of writing.
 */
export function orderSyllables(given: PdfCharacters): { characters: PdfCharacters; places: number[] } | null {
  if (!isInDrawnOrder(given)) return null
  const all = given.toArray()
  const kept = all.map((_, at) => at).filter((at) => !isFalseBlank(all, at))
  const characters: PdfCharacter[] = []
  const places: number[] = []
  for (let from = 0; from < kept.length;) {
    let to = from
    while (to < kept.length && blockOf(all[kept[to]!]!.code) !== null) to += 1
    if (to === from) to += 1
    // Letters change their places, and take the boxes that are there.
    const codes = orderRun(kept.slice(from, to).map((at) => all[at]!.code))
    for (const [index, code] of codes.entries()) {
      const place = kept[from + index]!
      places.push(place)
      characters.push({ ...all[place]!, code })
    }
    from = to
  }
  return { characters: PdfCharacters.of(characters), places }
}

function blockOf(code: number): number | null {
  const block = code - (code % blockSize)
  return block >= firstBlock && block <= lastBlock ? block : null
}

function kindOf(code: number | undefined): Kind {
  const block = code === undefined ? null : blockOf(code)
  if (block === null) return 'other'
  const letter = code! - block
  if ((letter >= 0x15 && letter <= 0x39) || (letter >= 0x58 && letter <= 0x5f)) return 'consonant'
  if (letter === 0x3c) return 'nukta'
  if (letter === virama) return 'virama'
  if (drawnFirst[block]?.includes(letter)) return 'first'
  if ((letter >= longA && letter <= signAu) || (letter >= 0x55 && letter <= 0x57)) return 'sign'
  return letter <= 0x03 ? 'nasal' : 'other'
}

/** A sign at the beginning of a word is one that is drawn first; one at the end of a word is in the order of writing. */
function isInDrawnOrder(characters: PdfCharacters): boolean {
  let drawn = 0
  let written = 0
  for (let at = 0; at < characters.length; at += 1) {
    if (characters.code(at) < firstBlock || kindOf(characters.code(at)) !== 'first') continue
    const before = at === 0 ? 'other' : kindOf(characters.code(at - 1))
    const after = at + 1 < characters.length ? kindOf(characters.code(at + 1)) : 'other'
    if (after !== 'consonant') written += 1
    else if (before !== 'consonant' && before !== 'nukta' && before !== 'virama') drawn += 1
  }
  return drawn >= minimumProofs && drawn > written * 4
}

/** PDFium sees a blank behind marks that have no width. */
function isFalseBlank(characters: readonly PdfCharacter[], at: number): boolean {
  const { code, generated } = characters[at]!
  const [mark, next] = [characters[at - 1], characters[at + 1]]
  if (code !== 0x20 || !generated || !mark || !next || mark.right > mark.left || blockOf(mark.code) === null)
    return false
  const right = Math.max(...characters.slice(Math.max(0, at - 4), at).map((one) => one.right))
  return Math.abs(next.left - right) < (next.top - next.bottom) * closeGap
}

/** Letters of a word, in the order of writing. */
function orderRun(codes: readonly number[]): number[] {
  const ordered: number[] = []
  for (let at = 0; at < codes.length;) {
    const code = codes[at]!
    const end = kindOf(code) === 'first' ? clusterEnd(codes, at + 1) : at + 1
    if (end > at + 1) {
      ordered.push(...codes.slice(at + 1, end), code)
      at = end
    } else if (isReph(codes, at)) {
      ordered.splice(syllableStart(ordered), 0, code, codes[at + 1]!)
      at += 2
    } else {
      add(ordered, code)
      at += 1
    }
  }
  return ordered
}

/** Consonants that are joined to one cluster. */
function clusterEnd(codes: readonly number[], from: number): number {
  let at = from
  while (kindOf(codes[at]) === 'consonant') {
    at += kindOf(codes[at + 1]) === 'nukta' ? 2 : 1
    if (kindOf(codes[at]) !== 'virama' || kindOf(codes[at + 1]) !== 'consonant') break
    at += 1
  }
  return at
}

/** An `r` behind the syllable that it is before in writing; one whose vowel sign follows is of the next syllable. */
function isReph(codes: readonly number[], at: number): boolean {
  const code = codes[at]!
  const block = blockOf(code)
  return (
    block !== null &&
    hasReph.has(block) &&
    code === block + ra &&
    codes[at + 1] === block + virama &&
    kindOf(codes[at + 2]) !== 'first'
  )
}

/** Where the last syllable begins; the end where there is none. */
function syllableStart(ordered: readonly number[]): number {
  const least = Math.max(0, ordered.length - maximumSyllable)
  let at = ordered.length
  while (at > least && ['nasal', 'sign', 'first'].includes(kindOf(ordered[at - 1]))) at -= 1
  if (at > least && kindOf(ordered[at - 1]) === 'nukta') at -= 1
  if (kindOf(ordered[at - 1]) !== 'consonant') return ordered.length
  at -= 1
  while (at - 1 > least && kindOf(ordered[at - 1]) === 'virama' && kindOf(ordered[at - 2]) === 'consonant') at -= 2
  return at
}

/** Fonts draw the long vowels o and au as two signs. */
function add(ordered: number[], code: number) {
  const block = blockOf(code)
  const last = ordered.at(-1)
  const isPair = (block === 0x900 || block === 0xa80) && last === block + longA
  if (isPair && code === block + signE) ordered[ordered.length - 1] = block + signO
  else if (isPair && code === block + signAi) ordered[ordered.length - 1] = block + signAu
  else ordered.push(code)
}
