export { rankSentences } from './rank-sentences.ts'
export { type Claims, mergeClaims, readClaims } from './claims.ts'
export { type Evidence, type EvidenceText, readEvidence } from './evidence.ts'
export { compareClaims, type Comparison, concludeSupport, type Support, supports } from './support.ts'
