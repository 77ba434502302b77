export { createTokenCounter, type TokenCounter } from './token-counter.ts'
export { loadVocabulary } from './vocabulary.ts'
