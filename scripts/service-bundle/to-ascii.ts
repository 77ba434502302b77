/**
 * The same program in ASCII. V8 stores a text with characters above U+00FF in two bytes for each character, which would double the memory of
 * a bundle's text. In strings, templates and patterns `\uXXXX` means the character. A `String.raw` with such a character must be a pattern.
 */
export function toAscii(code: string): string {
  return code.replaceAll(/(\\*)([^\0-\x7f])/g, (_, backslashes: string, character: string) => {
    // An odd number: the last one would escape the next backslash. The character means the same without it.
    const kept = backslashes.length % 2 === 1 ? backslashes.slice(1) : backslashes
    return `${kept}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
