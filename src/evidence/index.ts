export { rankSentences } from './rank-sentences.ts'
