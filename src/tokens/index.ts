export { estimateTokens, type TokenEstimate } from './estimate-tokens.ts'
export { createTokenCounter, type TokenCounter } from './token-counter.ts'
export { createTokenCounting, type TokenCounting } from './token-counting.ts'
export { loadVocabulary } from './vocabulary.ts'
