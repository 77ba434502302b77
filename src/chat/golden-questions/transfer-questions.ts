import type {
  GoldenExportBody,
  GoldenImportBody,
  GoldenImportOptions,
  NewGoldenQuestion,
} from '../../contract/golden-questions.ts'
import type { FieldProblem } from '../../contract/validation.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import type { DocumentNames } from '../../documents/documents/index.ts'
import { type Clock, createTimeSlices, invalidField } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { findDocuments, loadCurrentNames, pickDocuments } from './find-documents.ts'
import { assertRoom, type GoldenQuestion, hashesOf, InvalidQuestion, makeGoldenQuestion } from './golden-question.ts'
import { type GoldenTransferStore, questionsPerPart } from './golden-transfer.store.ts'
import { describeProblem, type ImportEntry, type ImportFile } from './import-file.ts'

interface Dependencies {
  transfers: StoreOf<GoldenTransferStore>
  documentNames: DocumentNames
  clock: Clock
}

/** The questions of a Space, the oldest first, as the parts of a JSON text that `importQuestions` takes. */
export async function exportQuestions(
  { transfers, documentNames }: Pick<Dependencies, 'transfers' | 'documentNames'>,
  space: Space,
): Promise<AsyncIterable<string>> {
  const ids = await transfers(space.organisationId).loadIds(space.id)
  return (async function* () {
    yield '{"questions":['
    let separator = '\n'
    for (let start = 0; start < ids.length; start += questionsPerPart) {
      const questions = await transfers(space.organisationId).loadMany(
        space.id,
        ids.slice(start, start + questionsPerPart),
      )
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
 * Adds the questions of a file that the Space does not have. With a question that breaks a rule, none is added (`invalid_request`, naming
 * its place and field) except with the options. Throws `conflict` above the limit of the Space; then none is added either.
 */
export async function importQuestions(
  { transfers, documentNames, clock }: Dependencies,
  space: Space,
  { entries }: ImportFile,
  { dryRun, onInvalid }: GoldenImportOptions,
  actor: Actor,
): Promise<GoldenImportBody> {
  const known = new Set(await transfers(space.organisationId).loadConversationHashes(space.id))
  const { questions, problems } = await judgeEntries({ documentNames, known, nowMs: clock.now() }, space, entries)
  const refused = problems.map(({ index, problem }) => {
    const { line, beginning } = entries[index]!
    const { message, placed, param } = describeProblem({ line }, index, problem)
    return { body: { number: index + 1, line, question: beginning, field: problem.param, message }, placed, param }
  })
  const [first] = refused
  if (first && onInvalid === 'refuse' && !dryRun) throw invalidField(first.param, first.placed)
  const given = entries.length - refused.length
  const request = { given, actor, nowMs: clock.now() }
  if (dryRun) assertRoom(questions.length, known.size)
  const added = dryRun ? questions.length : await transfers(space.organisationId).insertMany(space, questions, request)
  return { added, existing: given - added, refused: refused.map(({ body }) => body) }
}

interface Judged {
  /** Those that the Space does not have, each once. */
  questions: GoldenQuestion[]
  problems: { index: number; problem: FieldProblem }[]
}

/** `known`: hashes of the conversations that the Space has. */
async function judgeEntries(
  { documentNames, known, nowMs }: { documentNames: DocumentNames; known: ReadonlySet<string>; nowMs: number },
  space: Space,
  entries: readonly ImportEntry[],
): Promise<Judged> {
  const slice = createTimeSlices()
  const seen = new Set(known)
  const missing: { index: number; question: NewGoldenQuestion; hash: string }[] = []
  const judged: Judged = { questions: [], problems: [] }
  for (const [index, { read }] of entries.entries()) {
    await slice()
    if ('problem' in read) judged.problems.push({ index, problem: read.problem })
    else {
      const hash = hashesOf(read.question).messages
      // A question that is there already may expect a document that was deleted.
      if (!known.has(hash)) missing.push({ index, question: read.question, hash })
    }
  }
  const given = missing.flatMap(({ question }) => question.expectedDocuments)
  const found = await findDocuments(documentNames, space, given)
  for (const { index, question, hash } of missing) {
    try {
      const expectedDocuments = pickDocuments(found, question.expectedDocuments)
      // A millisecond apart, so that they stay in this order.
      const made = makeGoldenQuestion(space, { ...question, expectedDocuments }, nowMs + index)
      if (!seen.has(hash)) judged.questions.push(made)
      seen.add(hash)
    } catch (error) {
      if (!(error instanceof InvalidQuestion)) throw error
      judged.problems.push({ index, problem: error.problem })
    }
  }
  judged.problems.sort((left, right) => left.index - right.index)
  return judged
}
