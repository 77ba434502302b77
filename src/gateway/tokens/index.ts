export {
  createTokenCounting,
  estimateJson,
  estimateLongText,
  estimateTokens,
  type TokenCounting,
  type TokenEstimate,
} from './token-counting.ts'
export {
  type CountTokens,
  countWithTokenizer,
  countWordPieces,
  createTextCounter,
  type TextCounterSource,
} from './text-counter.ts'
export { createTokenCounter, loadVocabulary } from './token-counter.ts'
