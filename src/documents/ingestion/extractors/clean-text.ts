/** C0 controls but tab and line feed, DEL, C1 controls, bidi marks, soft hyphens, byte order marks, noncharacters, lone surrogates. */
const unwanted = /(?![\n\t])\p{Cc}|[\u00ad\u2028\u2029\ufeff]|\p{Bidi_Control}|\p{Noncharacter_Code_Point}|\p{Cs}/gu

/** Signs that stay as they are, and of which each is its own NFC: of most texts in Latin letters. */
const isClean = /^[\t\n\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027]*$/

/**
 * Text as every block carries it: NFC; line ends are line feeds; no control characters but line feed and tab. Soft hyphens go
 * because they hide a word from search; bidi marks are removed because they can hide the text from its reader.
 */
export function cleanText(text: string): string {
  if (isClean.test(text)) return text
  const cleaned = text.replaceAll('\r\n', '\n').replace(unwanted, replaceUnwanted)
  return cleaned.normalize('NFC')
}

function replaceUnwanted(character: string): string {
  switch (character) {
    case '\r':
    case '\u0085':
    case '\u2028':
    case '\u2029':
      return '\n'
    case '\f':
    case '\v':
      return '\n'
    default:
      // A surrogate without its other half was never text: the mark of a lost character replaces it.
      return character >= '\ud800' && character <= '\udfff' ? '\ufffd' : ''
  }
}

/** Clean text on one line: runs of white space become one blank, ends trimmed. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}
