export { estimateJson, estimateLongText, estimateTokens, type TokenEstimate } from './estimate-tokens.ts'
export {
  type CountTokens,
  countWithTokenizer,
  countWordPieces,
  createTextCounter,
  type TextCounterSource,
} from './text-counter.ts'
export { createTokenCounter, loadVocabulary } from './token-counter.ts'
export { createTokenCounting, type TokenCounting } from './token-counting.ts'
