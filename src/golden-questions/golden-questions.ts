import type {
  GoldenCandidatePageBody,
  GoldenQuestionBody,
  GoldenQuestionUpdate,
  ListGoldenQuestionsQuery,
  NewGoldenQuestion,
} from '../contract/golden-questions.ts'
import { goldenLimits } from '../contract/golden-questions.ts'
import type { DocumentNames, NamedDocument } from '../documents/index.ts'
import type { InsightService } from '../insights/index.ts'
import { AppError, type Clock } from '../kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { changeGoldenQuestion, type GoldenQuestion, makeGoldenQuestion } from './golden-question.ts'
import type { GoldenQuestionStore } from './golden-questions.store.ts'

export type GoldenQuestions = ReturnType<typeof createGoldenQuestions>

export interface GoldenQuestionsDependencies {
  store: GoldenQuestionStore
  documentNames: DocumentNames
  insights: Pick<InsightService, 'loadQuestions'>
  clock: Clock
}

/** The golden questions of Spaces, and the unanswered questions that may become some. */
export function createGoldenQuestions({ store, documentNames, insights, clock }: GoldenQuestionsDependencies) {
  const namesOf = async (space: Space, questions: readonly GoldenQuestion[]) => {
    const ids = [...new Set(questions.flatMap(({ expectedDocuments }) => expectedDocuments.map(({ id }) => id)))]
    const found = await documentNames.find(placeOf(space), { ids, names: [] })
    return new Map(found.map(({ id, name }) => [id, name]))
  }
  const rendered = async (space: Space, question: GoldenQuestion) =>
    renderQuestion(question, await namesOf(space, [question]))

  return {
    async loadPage(space: Space, { limit, offset, search }: ListGoldenQuestionsQuery) {
      const { total, questions } = await store.loadPage({ spaceId: space.id, search, limit, offset })
      const names = await namesOf(space, questions)
      const items = questions.map((question) => renderQuestion(question, names))
      return { total, limit, offset, maximum: goldenLimits.questionsPerSpace, items }
    },
    /** This, `update` and `remove` throw `not_found`. */
    async load(space: Space, id: string): Promise<GoldenQuestionBody> {
      const question = await store.find(space.id, id)
      if (!question) throw noQuestion(id)
      return rendered(space, question)
    },
    /** Throws `invalid_request` with the field that breaks a rule, and `conflict`. */
    async create(space: Space, given: NewGoldenQuestion, actor: Actor): Promise<GoldenQuestionBody> {
      const expectedDocuments = await findDocuments(documentNames, space, given.expectedDocuments)
      const question = makeGoldenQuestion(space, { ...given, expectedDocuments }, clock.now())
      await store.insert(question, actor)
      return rendered(space, question)
    },
    /** Throws as `create` does. A deleted document may stay. */
    async update(space: Space, id: string, given: GoldenQuestionUpdate, actor: Actor): Promise<GoldenQuestionBody> {
      const known = await store.find(space.id, id)
      if (!known) throw noQuestion(id)
      const expectedDocuments =
        given.expectedDocuments &&
        (await findDocuments(documentNames, space, given.expectedDocuments, known.expectedDocuments))
      const updated = await store.update(
        space.id,
        id,
        (current) => changeGoldenQuestion(current, { ...given, expectedDocuments }, clock.now()),
        actor,
      )
      if (!updated) throw noQuestion(id)
      return rendered(space, updated)
    },
    async remove(space: Space, id: string, actor: Actor): Promise<void> {
      if (!(await store.remove(space.id, id, actor, clock.now()))) throw noQuestion(id)
    },
    /** Unanswered questions of visitors that are not golden questions yet. */
    async loadCandidates(space: Space, page: { limit: number; offset: number }): Promise<GoldenCandidatePageBody> {
      const except = await store.loadHashes(space.id)
      const { total, questions } = await insights.loadQuestions({ spaceId: space.id, except, ...page })
      return {
        total,
        ...page,
        isKept: space.settings.keepUnansweredQuestions,
        items: questions.map((kept) => ({ ...kept, lastAskedAt: kept.lastAskedAt.toISOString() })),
      }
    },
  }
}

const placeOf = ({ organisationId, id }: Space) => ({ organisationId, spaceId: id })

/**
 * The named documents of the Space, each once. `known`: documents that may be missing in the Space. Throws `invalid_request` for one
 * that does not exist.
 */
async function findDocuments(
  documentNames: DocumentNames,
  space: Space,
  given: NewGoldenQuestion['expectedDocuments'],
  known: readonly NamedDocument[] = [],
): Promise<NamedDocument[]> {
  if (given.length === 0) return []
  const ids = given.flatMap(({ id }) => (id === undefined ? [] : [id.toLowerCase()]))
  const names = given.flatMap(({ id, name }) => (id === undefined && name !== undefined ? [name] : []))
  const existing = [...(await documentNames.find(placeOf(space), { ids, names })), ...known]
  const found = new Map<string, NamedDocument>()
  for (const [index, { id, name }] of given.entries()) {
    const document = existing.find((one) => (id === undefined ? one.name === name : one.id === id.toLowerCase()))
    if (!document) {
      const field = `expectedDocuments.${index}.${id === undefined ? 'name' : 'id'}`
      throw new AppError('invalid_request', `\`${field}\`: the Space has no such document.`, { param: field })
    }
    found.set(document.id, document)
  }
  return [...found.values()]
}

function renderQuestion(question: GoldenQuestion, names: ReadonlyMap<string, string>): GoldenQuestionBody {
  const { id, spaceId, messages, expectedDocuments, expectedFacts, mustAbstain, createdAt, updatedAt } = question
  return {
    id,
    spaceId,
    messages,
    expectedDocuments: expectedDocuments.map((document) => ({
      id: document.id,
      name: names.get(document.id) ?? document.name,
      exists: names.has(document.id),
    })),
    expectedFacts: [...expectedFacts],
    mustAbstain,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}

function noQuestion(id: string): AppError {
  return new AppError('not_found', `The Space has no golden question ${id}.`)
}
