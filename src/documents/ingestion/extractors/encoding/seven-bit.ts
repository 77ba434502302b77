import type { StreamDecoder } from './stream-decoder.ts'

/** Encodings that write other characters in bytes of seven bits, between marks (RFC 1468, 1557, 1843, 2152). */
export type SevenBitEncoding = 'iso-2022-jp' | 'iso-2022-kr' | 'hz-gb-2312' | 'utf-7'

const escape = 0x1b
const lineFeed = 0x0a
const tilde = 0x7e
const shiftOut = 0x0e
const shiftIn = 0x0f
/** After the escape: what follows a shift out is KS X 1001. */
const koreanMark = [0x24, 0x29, 0x43]

/** The encoding of a file without any byte above 0x7f, by its marks; null for plain ASCII. Takes a part of the file as text. */
export function sevenBitEncoding(ascii: string): SevenBitEncoding | null {
  if (ascii.includes('\u001b$)C') && ascii.includes('\u000e')) return 'iso-2022-kr'
  if (['\u001b$@', '\u001b$B', '\u001b(J'].some((mark) => ascii.includes(mark))) return 'iso-2022-jp'
  return isHz(ascii) ? 'hz-gb-2312' : isUtf7(ascii) ? 'utf-7' : null
}

/** Marks of HZ occur in source code too: all must hold whole characters, and most of those the usual ones (rows 1, 3 and 16 to 55). */
function isHz(ascii: string): boolean {
  // A pair cannot begin with a tilde or a brace, so no run is read twice.
  const runs = Array.from(ascii.matchAll(/~\{((?:[\x21-\x77][\x21-\x7e])*)~\}/g), ([, pairs]) => pairs!)
  const characters = runs.flatMap((pairs) => pairs.match(/../g) ?? [])
  const usual = characters.filter((pair) => /^[!#0-W]/.test(pair)).length
  // The last run may be cut.
  return characters.length > 0 && usual >= characters.length * 0.9 && runs.length >= ascii.split('~{').length - 2
}

/** Fewer runs of UTF-7 can be chance: a plus before letters is common in addresses and formulas. */
const minimumRuns = 4

/** Nearly every plus begins a run of characters beyond ASCII in Base64, or stands for itself before a minus. */
function isUtf7(ascii: string): boolean {
  let pluses = 0
  let runs = 0
  for (const [, coded = ''] of ascii.matchAll(/\+(?!-)([A-Za-z0-9+/]*)/g)) {
    pluses += 1
    if (isUtf16InBase64(coded)) runs += 1
  }
  return runs >= minimumRuns && runs >= pluses * 0.9
}

/** True for whole characters, and zeros up to the end of the last sign. */
function isUtf16InBase64(coded: string): boolean {
  const bytes = Buffer.from(`${coded}AAA`, 'base64')
  const units = Math.floor((coded.length * 6) / 16)
  const rest = bytes.subarray(2 * units, Math.ceil((coded.length * 6) / 8))
  if (units === 0 || (coded.length * 6) % 16 >= 6 || rest.some((byte) => byte !== 0)) return false
  const text = Buffer.from(bytes.subarray(0, 2 * units))
    .swap16()
    .toString('utf16le')
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]+$/u.test(text) && !/\p{ASCII}/u.test(text)
}

/** The bytes in the encoding of eight bits of the same characters, which is decoded by the platform. */
function createShiftedDecoder(label: string, convert: (byte: number, emit: (byte: number) => void) => void) {
  const decoder = new TextDecoder(label)
  return {
    decode(bytes = new Uint8Array(), options) {
      const converted: number[] = []
      for (const byte of bytes) convert(byte, (next) => converted.push(next))
      return decoder.decode(Uint8Array.from(converted), options)
    },
  } satisfies StreamDecoder
}

export function createIso2022KrDecoder(): StreamDecoder {
  let isShifted = false
  let mark: number[] | null = null
  return createShiftedDecoder('euc-kr', (byte, emit) => {
    if (mark) {
      mark.push(byte)
      if (byte === koreanMark[mark.length - 1]) {
        if (mark.length === koreanMark.length) mark = null
        return
      }
      for (const held of [escape, ...mark]) emit(held)
      mark = null
    } else if (byte === escape) mark = []
    else if (byte === shiftOut) isShifted = true
    else if (byte === shiftIn) isShifted = false
    else {
      // Each line begins unshifted.
      if (byte === lineFeed) isShifted = false
      emit(isShifted && byte > 0x20 ? byte | 0x80 : byte)
    }
  })
}

export function createHzDecoder(): StreamDecoder {
  let isShifted = false
  /** A tilde, or the first byte of a character. */
  let held: number | null = null
  return createShiftedDecoder('gb18030', (byte, emit) => {
    const first = held
    held = null
    if (first === null) {
      if (byte === lineFeed) isShifted = false
      if (byte === tilde || (isShifted && byte > 0x20 && byte < tilde)) held = byte
      else emit(byte)
    } else if (first !== tilde) {
      emit(first | 0x80)
      emit(byte | 0x80)
    } else if (isShifted && byte === 0x7d) isShifted = false
    else if (!isShifted && byte === 0x7b) isShifted = true
    else if (byte === tilde) emit(tilde)
    else if (byte !== lineFeed) {
      emit(tilde)
      emit(byte)
    }
  })
}
