/**
 * Characters that show nothing and can carry a text that only a machine reads. Pure.
 *
 * Single ones have a use: between words of Thai and Khmer, inside of emoji, in Persian and Indian scripts. Flags of regions such as
 * Scotland are a black flag and a row of tag characters.
 */

const anyPattern = /[\u200b-\u200d\u2060-\u2064\u{e0000}-\u{e007f}]|\p{Variation_Selector}/u
const regionFlagPattern = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu
/** A tag character, or as many others in a row as one letter takes in the known encodings. */
const carrierPattern = /[\u{e0000}-\u{e007f}]|[\u200b-\u200d\u2060-\u2064]{8}|\p{Variation_Selector}{4}/u

export function hasHiddenCharacters(text: string): boolean {
  return anyPattern.test(text) && carrierPattern.test(text.replaceAll(regionFlagPattern, ''))
}
