import { createLegacyDecoder } from './legacy-encodings.ts'
import samples from './language-samples.json' with { type: 'json' }

type Utf16 = 'utf-16le' | 'utf-16be'
type Utf32 = 'utf-32le' | 'utf-32be'

/**
 * UTF-16 or UTF-32 without a byte order mark, distinguished from bytes that hold controls or NULs in masses, as no 8-bit text does.
 */
export function unmarkedUnicode(head: Uint8Array): Utf16 | Utf32 | null {
  if (head.length < 4) return null
  return utf32(head) ?? byNuls(head) ?? byScript(head)
}

/** The high bytes of each group of four are those of a code point. */
function utf32(head: Uint8Array): Utf32 | null {
  const bytes = head.subarray(0, head.length & ~3)
  let little = true
  let big = true
  for (let at = 0; at < bytes.length && (little || big); at += 4) {
    little &&= bytes[at + 3] === 0 && bytes[at + 2]! <= 0x10
    big &&= bytes[at] === 0 && bytes[at + 1]! <= 0x10
  }
  if (little && plausibility(bytes, 'utf-32le') > 0) return 'utf-32le'
  return big && plausibility(bytes, 'utf-32be') > 0 ? 'utf-32be' : null
}

/** Mostly Latin text: every other byte is NUL. */
function byNuls(head: Uint8Array): Utf16 | null {
  const pairs = Math.floor(head.length / 2)
  let evenNuls = 0
  let oddNuls = 0
  for (let index = 0; index < pairs * 2; index += 2) {
    if (head[index] === 0) evenNuls += 1
    if (head[index + 1] === 0) oddNuls += 1
  }
  if (oddNuls > pairs * 0.6 && evenNuls < pairs * 0.05) return 'utf-16le'
  if (evenNuls > pairs * 0.6 && oddNuls < pairs * 0.05) return 'utf-16be'
  return null
}

/** Shares of bytes that 16-bit text of other scripts has, and that no 8-bit text has. */
const minimumControls = 0.01
const manyControls = 0.25
const minimumHighBytes = 0.15
/** Share of the letters that must belong to the main script. */
const minimumScriptShare = 0.75

function byScript(head: Uint8Array): Utf16 | null {
  let controls = 0
  let high = 0
  for (const byte of head) {
    if (byte >= 0x80) high += 1
    else if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) controls += 1
  }
  const isSixteenBit =
    controls >= head.length * manyControls ||
    (controls >= head.length * 0.1 && high >= head.length * 0.05) ||
    (controls >= Math.max(1, head.length * minimumControls) && high >= head.length * minimumHighBytes)
  if (!isSixteenBit) return null
  const little = plausibility(head, 'utf-16le')
  const big = plausibility(head, 'utf-16be')
  if (little === 0 && big === 0) return null
  return little >= big ? 'utf-16le' : 'utf-16be'
}

const scripts = [
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Thai}/u,
  /\p{Script=Devanagari}/u,
  /\p{Script=Latin}/u,
]
const common = new Set([
  ...Object.values(samples.commonCharacters).join(''),
  ...' \n\r\t,.、。，；：！？「」（）-0123456789',
])

/** 0 where the bytes are no text in this order of bytes; else higher the more of it is common. */
function plausibility(head: Uint8Array, label: Utf16 | Utf32): number {
  // Neither a cut surrogate pair at the end nor an odd last byte counts.
  const text = createLegacyDecoder(label)!.decode(head.subarray(0, head.length & ~1), { stream: true })
  if (/[\ufffd\p{Co}\p{Cn}]|(?![\t\n\r\f])\p{Cc}/u.test(text)) return 0
  const characters = Array.from(text)
  const letters = characters.filter((character) => /\p{L}/u.test(character))
  const ofMain = Math.max(...scripts.map((script) => letters.filter((letter) => script.test(letter)).length))
  if (letters.length < characters.length * 0.5 || ofMain < letters.length * minimumScriptShare) return 0
  const isKana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u
  return (
    1 + characters.filter((character) => common.has(character) || isKana.test(character)).length / characters.length
  )
}
