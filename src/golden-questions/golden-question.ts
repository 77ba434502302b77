import { createHash } from 'node:crypto'
import type { GoldenMessages } from '../contract/golden-questions.ts'
import type { NamedDocument } from '../documents/index.ts'
import { hashQuestion } from '../insights/index.ts'
import { AppError, createUuid, type OrganisationId, type SpaceId } from '../kernel/index.ts'

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

/**
 * Throws `invalid_request` with the field that contradicts another one. `path` is the question's place in the body, for instance
 * `questions.3.`.
 */
export function makeGoldenQuestion(
  space: { id: SpaceId; organisationId: OrganisationId },
  content: GoldenContent,
  nowMs: number,
  path = '',
): GoldenQuestion {
  assertConsistent(content, path)
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

function assertConsistent({ mustAbstain, expectedDocuments, expectedFacts }: GoldenContent, path = ''): void {
  if (!mustAbstain || (expectedDocuments.length === 0 && expectedFacts.length === 0)) return
  const field = `${path}mustAbstain`
  throw new AppError(
    'invalid_request',
    `\`${field}\` must be false for a question with expected documents or expected facts.`,
    { param: field },
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

/** For the admin log, which gets no text of a question. */
export function describeForLog({ messages, expectedDocuments, expectedFacts, mustAbstain }: GoldenContent) {
  return {
    questionCharacters: questionOf({ messages }).length,
    messages: messages.length,
    expectedDocuments: expectedDocuments.length,
    expectedFacts: expectedFacts.length,
    mustAbstain,
  }
}
