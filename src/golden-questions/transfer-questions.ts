import type { GoldenExportBody, GoldenImportBody, NewGoldenQuestion } from '../contract/golden-questions.ts'
import type { DocumentNames } from '../documents/index.ts'
import type { Clock } from '../kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { findDocuments, loadCurrentNames, pickDocuments } from './find-documents.ts'
import { hashesOf, makeGoldenQuestion } from './golden-question.ts'
import type { GoldenTransferStore } from './golden-transfer.store.ts'

interface Dependencies {
  transfers: GoldenTransferStore
  documentNames: DocumentNames
  clock: Clock
}

/** Questions are loaded in parts of this many, so that the longest texts do not hold up other requests. */
const questionsPerPart = 25

/** The questions of a Space, the oldest first, as the parts of a JSON text that `importQuestions` takes. */
export async function exportQuestions(
  { transfers, documentNames }: Pick<Dependencies, 'transfers' | 'documentNames'>,
  space: Space,
): Promise<AsyncIterable<string>> {
  const ids = await transfers.loadIds(space.id)
  return (async function* () {
    yield '{"questions":['
    let separator = '\n'
    for (let start = 0; start < ids.length; start += questionsPerPart) {
      const questions = await transfers.loadMany(space.id, ids.slice(start, start + questionsPerPart))
      const names = await loadCurrentNames(documentNames, space, questions)
      for (const { messages, expectedDocuments, expectedFacts, mustAbstain } of questions) {
        const exported: GoldenExportBody['questions'][number] = {
          messages,
          expectedDocuments: expectedDocuments.map(({ id, name }) => ({ id, name: names.get(id) ?? name })),
          expectedFacts: [...expectedFacts],
          mustAbstain,
        }
        yield separator + JSON.stringify(exported)
        separator = ',\n'
      }
    }
    yield '\n]}\n'
  })()
}

/**
 * Adds all questions that the Space does not have, or none. Throws `invalid_request` with the index and the field that breaks a rule,
 * and `conflict` above the limit of the Space.
 */
export async function importQuestions(
  { transfers, documentNames, clock }: Dependencies,
  space: Space,
  given: readonly NewGoldenQuestion[],
  actor: Actor,
): Promise<GoldenImportBody> {
  const known = new Set(await transfers.loadConversationHashes(space.id))
  // A question that is there already may expect a document that was deleted.
  const missing = [...given.entries()].filter(([, question]) => !known.has(hashesOf(question).messages))
  const found = await findDocuments(
    documentNames,
    space,
    missing.flatMap(([, { expectedDocuments }]) => expectedDocuments),
  )
  const nowMs = clock.now()
  const questions = missing.map(([index, question]) => {
    const path = `questions.${index}.`
    const expectedDocuments = pickDocuments(found, question.expectedDocuments, path)
    // A millisecond apart, so that they stay in this order.
    return makeGoldenQuestion(space, { ...question, expectedDocuments }, nowMs + index, path)
  })
  const added = await transfers.insertMany(space, questions, { given: given.length, actor, nowMs })
  return { added, existing: given.length - added }
}
