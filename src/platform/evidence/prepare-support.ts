import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultLanguage } from '../language/index.ts'
import { patternsOfLeads, readClaims } from './claims.ts'
import { readEvidence } from './evidence.ts'
import { slowPatterns } from './negation-words.ts'
import { monthOfName, readShares } from './read-figures.ts'
import { compareClaims, concludeSupport } from './support.ts'

const sentence = 'It is never open for 3 days.'
const text = 'It is closed for 2 days, and open for 5.'

/** What the first comparison of a process compiles and loads, in parts of some 20 ms at most. */
function* parts() {
  for (const pattern of [...slowPatterns, ...patternsOfLeads]) yield sentence.search(pattern)
  yield monthOfName('it', defaultLanguage)
  yield readShares(sentence)
  const claims = readClaims(sentence)
  yield
  const passage = readEvidence({ title: '', text })
  yield
  yield claims.clauses(passage.language)
  yield concludeSupport(claims, [compareClaims(claims, passage)])
}

let preparation: Promise<void> | undefined

/** Prepares the first comparison of a process, once: all who call it wait for the same turns of the event loop. */
export function prepareSupport(): Promise<void> {
  return (preparation ??= prepareInTurns())
}

/** For a test: what `prepareSupport` does in a process whose tests may have prepared already. */
export async function prepareInTurns(): Promise<void> {
  for (const _ of parts()) await nextTurn()
}
