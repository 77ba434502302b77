import { decodeNamedCharacterReference } from 'decode-named-character-reference'

/** Names that browsers also read without a semicolon, and that people write so. */
const withoutSemicolon = new Set(['amp', 'lt', 'gt', 'quot', 'nbsp', 'copy', 'reg'])
const windows1252 = new TextDecoder('windows-1252')

/** Replaces character references by their characters. What is none stays as it is. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#(x?)([\da-f]{1,8})|([a-z][a-z\d]{1,38}))(;?)/gi,
    (reference, hex, digits, name, semicolon) => {
      if (name) {
        if (!semicolon && !withoutSemicolon.has(name as string)) return reference as string
        return decodeNamedCharacterReference(name as string) || (reference as string)
      }
      if (!hex && /\D/.test(digits as string)) return reference as string
      return characterOf(Number.parseInt(digits as string, hex ? 16 : 10))
    },
  )
}

function characterOf(code: number): string {
  // The C1 controls mean the characters of windows-1252.
  if (code >= 0x80 && code <= 0x9f) return windows1252.decode(Uint8Array.of(code))
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code)
}
