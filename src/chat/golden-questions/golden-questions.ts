import {
  type GoldenCandidatePageBody,
  type GoldenImportOptions,
  goldenLimits,
  type GoldenQuestionBody,
  type GoldenQuestionUpdate,
  type ListGoldenQuestionsQuery,
  type NewGoldenQuestion,
} from '../../contract/golden-questions.ts'
import type { DocumentNames, NamedDocument } from '../../documents/documents/index.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import type { InsightService } from '../insights/index.ts'
import { AppError, assertVersion, type Clock, versionOf } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { findDocuments, loadCurrentNames, pickDocuments } from './find-documents.ts'
import { changeGoldenQuestion, type GoldenQuestion, makeGoldenQuestion, versionedQuestion } from './golden-question.ts'
import type { GoldenQuestionStore } from './golden-questions.store.ts'
import { loadRegression } from './golden-runs.ts'
import type { GoldenRunStore } from './golden-runs.store.ts'
import type { GoldenTransferStore } from './golden-transfer.store.ts'
import type { ImportFile } from './import-file.ts'
import { exportQuestions, importQuestions } from './transfer-questions.ts'

export type GoldenQuestions = ReturnType<typeof createGoldenQuestions>

export interface GoldenQuestionsDependencies {
  store: StoreOf<GoldenQuestionStore>
  transfers: StoreOf<GoldenTransferStore>
  runs: StoreOf<Pick<GoldenRunStore, 'loadRegression'>>
  documentNames: DocumentNames
  insights: Pick<InsightService, 'loadQuestions'>
  clock: Clock
}

/** The golden questions of Spaces, and the unanswered questions that may become some. */
export function createGoldenQuestions(dependencies: GoldenQuestionsDependencies) {
  const { store, transfers, runs, documentNames, insights, clock } = dependencies
  const rendered = async (space: Space, question: GoldenQuestion) =>
    renderQuestion(question, await loadCurrentNames(documentNames, space, [question]))

  return {
    async loadPage(space: Space, { limit, offset, search }: ListGoldenQuestionsQuery) {
      const { total, questions } = await store(space.organisationId).loadPage({
        spaceId: space.id,
        search,
        limit,
        offset,
      })
      const names = await loadCurrentNames(documentNames, space, questions)
      const items = questions.map((question) => renderQuestion(question, names))
      const regression = await loadRegression(runs, space)
      return { total, limit, offset, maximum: goldenLimits.questionsPerSpace, regression, items }
    },
    /** This, `update` and `remove` throw `not_found`. */
    async load(space: Space, id: string): Promise<GoldenQuestionBody> {
      const question = await store(space.organisationId).find(space.id, id)
      if (!question) throw noQuestion(id)
      return rendered(space, question)
    },
    /** Throws `invalid_request` with the field that breaks a rule, and `conflict`. */
    async create(space: Space, given: NewGoldenQuestion, actor: Actor): Promise<GoldenQuestionBody> {
      const expectedDocuments = await pickExpected(documentNames, space, given.expectedDocuments)
      const question = makeGoldenQuestion(space, { ...given, expectedDocuments }, clock.now())
      await store(space.organisationId).insert(question, actor)
      return rendered(space, question)
    },
    /** Throws as `create` does. A deleted document may stay. `ifMatch`: as `assertVersion` has it. */
    async update(
      space: Space,
      id: string,
      given: GoldenQuestionUpdate,
      { actor, ifMatch }: { actor: Actor; ifMatch: string | undefined },
    ): Promise<GoldenQuestionBody> {
      const known = await store(space.organisationId).find(space.id, id)
      if (!known) throw noQuestion(id)
      const expectedDocuments =
        given.expectedDocuments &&
        (await pickExpected(documentNames, space, given.expectedDocuments, known.expectedDocuments))
      const updated = await store(space.organisationId).update(
        space.id,
        id,
        (current) => {
          assertVersion(ifMatch, versionedQuestion(current))
          return changeGoldenQuestion(current, { ...given, expectedDocuments }, clock.now())
        },
        actor,
      )
      if (!updated) throw noQuestion(id)
      return rendered(space, updated)
    },
    async remove(space: Space, id: string, actor: Actor): Promise<void> {
      if (!(await store(space.organisationId).remove(space.id, id, actor, clock.now()))) throw noQuestion(id)
    },
    /** The parts of a JSON text. */
    export: (space: Space) => exportQuestions({ transfers, documentNames }, space),
    import: (space: Space, file: ImportFile, options: GoldenImportOptions, actor: Actor) =>
      importQuestions({ transfers, documentNames, clock }, space, file, options, actor),
    /** Unanswered questions of visitors that are not golden questions yet. */
    async loadCandidates(space: Space, page: { limit: number; offset: number }): Promise<GoldenCandidatePageBody> {
      const except = await store(space.organisationId).loadHashes(space.id)
      const { total, questions } = await insights.loadQuestions({
        organisationId: space.organisationId,
        spaceId: space.id,
        except,
        ...page,
      })
      return {
        total,
        ...page,
        isKept: space.settings.keepUnansweredQuestions,
        items: questions.map((kept) => ({ ...kept, lastAskedAt: kept.lastAskedAt.toISOString() })),
      }
    },
  }
}

async function pickExpected(
  names: DocumentNames,
  space: Space,
  given: NewGoldenQuestion['expectedDocuments'],
  known: readonly NamedDocument[] = [],
) {
  return pickDocuments(await findDocuments(names, space, given, known), given)
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
    version: versionOf(versionedQuestion(question)),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}

function noQuestion(id: string): AppError {
  return new AppError('not_found', `The Space has no golden question ${id}.`)
}
