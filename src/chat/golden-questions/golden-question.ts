import { createHash } from 'node:crypto'
import { goldenLimits, type GoldenMessages } from '../../contract/golden-questions.ts'
import { type FieldProblem, sentence } from '../../contract/validation.ts'
import type { NamedDocument } from '../../documents/documents/index.ts'
import { hashQuestion } from '../insights/index.ts'
import { AppError, createUuid, type OrganisationId, type SpaceId } from '../../platform/kernel/index.ts'

/** What an answer to a conversation must have. */
export interface GoldenContent {
  readonly messages: GoldenMessages
  /** With the names at the time of the last change. */
  readonly expectedDocuments: readonly NamedDocument[]
  readonly expectedFacts: readonly string[]
  readonly mustAbstain: boolean
}

export interface GoldenQuestion extends GoldenContent {
  readonly id: string
  readonly spaceId: SpaceId
  readonly organisationId: OrganisationId
  readonly createdAt: number
  readonly updatedAt: number
}

/** `invalid_request` for a field of a question. An import catches it to name the place of the question as well. */
export class InvalidQuestion extends AppError {
  readonly problem: FieldProblem
  constructor(problem: FieldProblem) {
    super('invalid_request', sentence(`\`${problem.param}\``, problem.words), { param: problem.param })
    this.problem = problem
  }
}

/** Throws InvalidQuestion with the field that contradicts another one. */
export function makeGoldenQuestion(
  space: { id: SpaceId; organisationId: OrganisationId },
  content: GoldenContent,
  nowMs: number,
): GoldenQuestion {
  assertConsistent(content)
  return {
    id: createUuid(nowMs),
    spaceId: space.id,
    organisationId: space.organisationId,
    ...content,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}

/** Throws as `makeGoldenQuestion` does. */
export function changeGoldenQuestion(
  current: GoldenQuestion,
  change: { [Field in keyof GoldenContent]?: GoldenContent[Field] | undefined },
  nowMs: number,
): GoldenQuestion {
  const next = {
    ...current,
    messages: change.messages ?? current.messages,
    expectedDocuments: change.expectedDocuments ?? current.expectedDocuments,
    expectedFacts: change.expectedFacts ?? current.expectedFacts,
    mustAbstain: change.mustAbstain ?? current.mustAbstain,
    updatedAt: nowMs,
  }
  assertConsistent(next)
  return next
}

function assertConsistent({ mustAbstain, expectedDocuments, expectedFacts }: GoldenContent): void {
  if (!mustAbstain || (expectedDocuments.length === 0 && expectedFacts.length === 0)) return
  const words = 'must be false for a question with expected documents or expected facts'
  throw new InvalidQuestion({ param: 'mustAbstain', words })
}

/** Throws `conflict` where `added` questions next to the existing ones are too many for a Space. */
export function assertRoom(added: number, existing: number): void {
  const room = goldenLimits.questionsPerSpace - existing
  if (added <= room) return
  throw new AppError(
    'conflict',
    `\`questions\` has ${added} new golden questions, but the Space has room for ${room} of at most ${goldenLimits.questionsPerSpace}.`,
    { param: 'questions' },
  )
}

export const questionOf = ({ messages }: Pick<GoldenContent, 'messages'>) => messages.at(-1)!.content

/** Hashes in hexadecimal: of the last message, as insights have it, and of all messages. */
export function hashesOf({ messages }: Pick<GoldenContent, 'messages'>) {
  const texts = JSON.stringify(messages.map(({ role, content }) => [role, content]))
  return {
    question: hashQuestion(questionOf({ messages })),
    messages: createHash('sha256').update(texts).digest('hex'),
  }
}

/** What a change replaces, for `assertVersion`. */
export const versionedQuestion = ({ messages, expectedDocuments, expectedFacts, mustAbstain }: GoldenContent) => ({
  messages,
  expectedDocuments,
  expectedFacts,
  mustAbstain,
})

/** For the admin log, which gets no text of a question. */
export function describeForLog(question: GoldenContent & { spaceId: string }) {
  const { spaceId, messages, expectedDocuments, expectedFacts, mustAbstain } = question
  return {
    spaceId,
    questionCharacters: questionOf({ messages }).length,
    messages: messages.length,
    expectedDocuments: expectedDocuments.length,
    expectedFacts: expectedFacts.length,
    mustAbstain,
  }
}
