export {
  assertReadsCsv,
  type BodyFormat,
  type BodyReader,
  type BodyShape,
  type LongBody,
  readBody,
  readJson,
  readLongBody,
  usualBytes,
  wholeMembers,
} from './body-reader.ts'
export {
  countCharacters,
  decodeTexts,
  endLoan,
  freeMemory,
  isBlankText,
  joinTexts,
  JsonText,
  lend,
  type LiteralCounts,
  textOf,
  toMovable,
} from './json-text.ts'
export { LongTexts } from './long-texts.ts'
