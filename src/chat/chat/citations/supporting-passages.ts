import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  compareClaims,
  concludeSupport,
  type EvidenceText,
  readClaims,
  readEvidence,
} from '../../../platform/evidence/index.ts'
import { splitSentences } from '../../../platform/language/index.ts'

/** Most sentences of an answer, and most passages, that are compared: they bound the time. */
const maximumSentences = 60
const maximumPassages = 200

/**
 * The passages that support at least one sentence of an answer without markers, in their order; all where none does, as in an answer in another
 * language. The event loop gets a turn after each passage. Rejects when `signal` aborts.
 */
export async function findSupporting<Given>(
  passages: readonly Given[],
  answerText: string,
  { toText, signal }: { toText: (passage: Given) => EvidenceText; signal: AbortSignal },
): Promise<readonly Given[]> {
  const claims = splitSentences(answerText)
    .slice(0, maximumSentences)
    .map(({ text }) => readClaims(text))
  const supporting: Given[] = []
  for (const passage of passages.slice(0, maximumPassages)) {
    const evidence = readEvidence(toText(passage))
    const isSupporting = claims.some(
      (claim) => concludeSupport(claim, [compareClaims(claim, evidence)]).verdict === 'supported',
    )
    if (isSupporting) supporting.push(passage)
    await nextTurn()
    signal.throwIfAborted()
  }
  return supporting.length === 0 ? passages : supporting
}
