import type { StreamDecoder } from './stream-decoder.ts'

/**
 * Places of the letters in the three groups of five bits of a syllable (KS X 1001, annex 3). -1 is no letter, undefined is no place.
 */
const fill = -1
const initials = places(1, range(2, 20))
const vowels = places(2, [...range(3, 7), ...range(10, 15), ...range(18, 23), ...range(26, 29)])
const finals = places(1, [...range(2, 17), ...range(19, 29)])
/** The letters alone, in the order of the initials and of the finals (Unicode: Hangul Compatibility Jamo). */
const initialLetters = [...'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ']
const finalLetters = [...'ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ']
const firstVowel = 0x314f
const firstSyllable = 0xac00
const lost = '\ufffd'

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function places(none: number, letters: number[]): Map<number, number> {
  return new Map([[none, fill], ...letters.map((code, letter): [number, number] => [code, letter])])
}

/** Johab, Korean code page 1361: syllables by their letters, signs and Chinese characters in the order of KS X 1001. */
export function createJohabDecoder(): StreamDecoder {
  const others = new TextDecoder('euc-kr')
  let lead: number | null = null
  return {
    decode(bytes = new Uint8Array(), options) {
      let text = ''
      for (const byte of bytes) {
        if (lead !== null) {
          text += lead < 0xd4 ? syllable((lead << 8) | byte) : sign(lead, byte, others)
          lead = null
        } else if (byte < 0x80) text += byte === 0x5c ? '₩' : String.fromCodePoint(byte)
        else if (byte >= 0x84 && byte <= 0xf9 && !(byte > 0xd3 && byte < 0xd9) && byte !== 0xdf) lead = byte
        else text += lost
      }
      if (!options?.stream && lead !== null) {
        text += lost
        lead = null
      }
      return text
    },
  }
}

function syllable(code: number): string {
  const initial = initials.get((code >> 10) & 31)
  const vowel = vowels.get((code >> 5) & 31)
  const final = finals.get(code & 31)
  if (initial === undefined || vowel === undefined || final === undefined) return lost
  if (initial !== fill && vowel !== fill)
    return String.fromCodePoint(firstSyllable + (initial * 21 + vowel) * 28 + final + 1)
  // A letter alone.
  if (vowel === fill && final === fill) return initialLetters[initial] ?? lost
  if (initial === fill && final === fill) return String.fromCodePoint(firstVowel + vowel)
  return (initial === fill && vowel === fill && finalLetters[final]) || lost
}

/** Two rows of KS X 1001 have one first byte. */
function sign(lead: number, trail: number, others: StreamDecoder): string {
  if (trail < 0x31 || (trail > 0x7e && trail < 0x91) || trail === 0xff) return lost
  const row = lead < 0xe0 ? 2 * (lead - 0xd9) : 2 * lead - 0x197
  const place = trail - (trail < 0x91 ? 0x31 : 0x43)
  const isSecond = place >= 94
  return others.decode(Uint8Array.of(row + (isSecond ? 1 : 0) + 0xa1, place - (isSecond ? 94 : 0) + 0xa1))
}
