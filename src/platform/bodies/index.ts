export {
  assertReadsCsv,
  type BodyFormat,
  type BodyReader,
  type LongBody,
  readBody,
  readJson,
  readLongBody,
  usualBytes,
} from './body-reader.ts'
export { type BodyShape, wholeMembers } from './json-scan.ts'
export {
  countCharacters,
  decodeTexts,
  isBlankText,
  joinTexts,
  JsonText,
  type LiteralCounts,
  textOf,
  toMovable,
} from './json-text.ts'
export { LongTexts } from './long-texts.ts'
