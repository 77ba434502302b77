export {
  type AnswerFeatures,
  measureEvidence,
  measureSentences,
  scoreAnswerability,
  sentenceWeights,
} from './measure-evidence.ts'
export { type RankedSentence, rankSentences } from './rank-sentences.ts'
export { type QuestionEvidence, readPassages, withoutMarkup } from './read-passages.ts'
export { hasStop } from './segments.ts'
export { type Claims, mergeClaims, readClaims } from './claims.ts'
export { type Evidence, type EvidenceText, readEvidence } from './evidence.ts'
export { prepareSupport } from './prepare-support.ts'
export { concludeAttribution } from './attribution.ts'
export { compareClaims, type Comparison, concludeSupport, type Support, supports } from './support.ts'
export { englishNoAnswer, isNoAnswer, composeNoAnswer, composeUncertain } from './no-answer.ts'
export { hasFact } from './facts.ts'
export { comparedWords, synonymsIn } from './words.ts'
export { asciiDigits } from './read-number.ts'
