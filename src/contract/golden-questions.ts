import { z } from 'zod'
import { paging } from './query-integer.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** Golden questions of a Space: questions with the documents and facts that an answer must have. */

/** docs/use/golden-questions.md states them. Characters are UTF-16 units. */
export const goldenLimits = {
  questionsPerSpace: 500,
  messages: 20,
  /** Of all messages of one question together. */
  messageCharacters: 8_000,
  expectedDocuments: 20,
  expectedFacts: 20,
  factCharacters: 500,
} as const

export const goldenQuestionParamsSchema = z.object({ id: z.string(), questionId: z.string() })

const message = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.string().min(1).max(goldenLimits.messageCharacters),
})

const messages = z
  .array(message)
  .min(1)
  .max(goldenLimits.messages)
  .refine((turns) => turns.at(-1)?.role === 'user', { error: 'must end with a message of the role `user`' })
  .refine((turns) => turns.at(-1)?.content.trim() !== '', { error: 'must end with a question that is not blank' })
  .refine((turns) => turns.reduce((sum, { content }) => sum + content.length, 0) <= goldenLimits.messageCharacters, {
    error: `must have at most ${goldenLimits.messageCharacters} characters in all messages together`,
  })

const givenDocument = z
  .strictObject({ id: z.uuid().optional(), name: z.string().min(1).max(255).optional() })
  .refine(({ id, name }) => id !== undefined || name !== undefined, { error: 'must have `id` or `name`' })

const fact = z
  .string()
  .max(goldenLimits.factCharacters)
  .refine((text) => /[\p{L}\p{N}]/u.test(text), { error: 'must have a letter or a digit' })

const questionFields = {
  messages: messages.describe('The conversation; the last message is the question.'),
  expectedDocuments: z
    .array(givenDocument)
    .max(goldenLimits.expectedDocuments)
    .describe('Documents of the Space that the answer needs: by id, or by name where no document has the id.'),
  expectedFacts: z
    .array(fact)
    .max(goldenLimits.expectedFacts)
    .describe('Short texts that the answer must contain, in its language. Numbers, names and words are compared.'),
  mustAbstain: z
    .boolean()
    .describe('The right answer is that the files do not hold one. Then there are no expected documents or facts.'),
}

export const createGoldenQuestionSchema = z
  .strictObject({
    messages: questionFields.messages,
    expectedDocuments: questionFields.expectedDocuments.default([]),
    expectedFacts: questionFields.expectedFacts.default([]),
    mustAbstain: questionFields.mustAbstain.default(false),
  })
  .meta({ id: 'CreateGoldenQuestion' })

export const updateGoldenQuestionSchema = z
  .strictObject(questionFields)
  .partial()
  .refine((body) => Object.values(body).some((value) => value !== undefined), { error: 'must have at least one field' })
  .meta({ id: 'UpdateGoldenQuestion' })

export const goldenQuestionSchema = z
  .object({
    id: z.uuid(),
    spaceId: z.uuid(),
    messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
    expectedDocuments: z.array(
      z.object({
        id: z.uuid(),
        name: z.string().describe('The current name, or the last one known.'),
        exists: z.boolean().describe('false: the document was deleted. A run then uses one of the same name.'),
      }),
    ),
    expectedFacts: z.array(z.string()),
    mustAbstain: z.boolean(),
    version: settingsVersionSchema,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'GoldenQuestion' })

export const listGoldenQuestionsQuerySchema = z.object({
  ...paging(20),
  search: z.string().max(200).optional().describe('A part of the question, not case-sensitive.'),
})

/** On the pages of golden questions, until the questions pass again or are changed so that they do. */
export const goldenRegressionSchema = z
  .object({
    runId: z.uuid(),
    endedAt: z.iso.datetime(),
    worse: z.int().describe('Its questions that got worse and that the newest completed run has not passed either.'),
  })
  .nullable()
  .describe('The newest scheduled run with questions that passed in the run before it and have not passed since.')

export const goldenQuestionPageSchema = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    maximum: z.int().describe('Most golden questions of a Space.'),
    regression: goldenRegressionSchema,
    items: z.array(goldenQuestionSchema).describe('The oldest first.'),
  })
  .meta({ id: 'GoldenQuestionPage' })

/** At most what a Space may have; the store compares with what it has. */
export const importGoldenQuestionsSchema = z
  .strictObject({ questions: z.array(createGoldenQuestionSchema).max(goldenLimits.questionsPerSpace) })
  .meta({ id: 'ImportGoldenQuestions' })

export const importGoldenQuestionsCsvSchema = z
  .string()
  .describe(
    'UTF-8 text with a header: `question`, and optionally `expected documents`, `expected facts` and `must abstain`. Documents (by name) and facts are one per line of a cell.',
  )

export const importGoldenQuestionsQuerySchema = z.object({
  dryRun: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('`true`: adds nothing, and reports what an import would add and refuse.'),
  onInvalid: z
    .enum(['refuse', 'skip'])
    .default('refuse')
    .describe('With a question that breaks a rule: `refuse` adds none (400), `skip` adds the others.'),
})

export const goldenImportSchema = z
  .object({
    added: z.int().describe('Questions that were added, or in a dry run would be.'),
    existing: z.int().describe('Questions whose conversations the Space had, or that are repeated in the body.'),
    refused: z
      .array(
        z.object({
          number: z.int().describe('Of the question in the body, from 1.'),
          line: z.int().nullable().describe('The line of a CSV file in which the question begins, from 1.'),
          question: z.string().nullable().describe('The beginning of the question, if it has a text.'),
          field: z.string().describe('In dotted form; empty for the whole question.'),
          message: z.string(),
        }),
      )
      .describe('Questions that break a rule, each with its first problem. Empty unless in a dry run or with `skip`.'),
  })
  .meta({ id: 'GoldenImport' })

export const goldenExportSchema = z
  .object({
    questions: z
      .array(
        goldenQuestionSchema.pick({ messages: true, expectedFacts: true, mustAbstain: true }).extend({
          expectedDocuments: z.array(z.object({ id: z.uuid(), name: z.string() })),
        }),
      )
      .describe('The oldest first.'),
  })
  .meta({ id: 'GoldenExport' })

export const goldenCandidatesQuerySchema = z.object(paging(20))

export const goldenCandidatePageSchema = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    isKept: z.boolean().describe('Whether the Space keeps unanswered questions; false: there are no candidates.'),
    items: z
      .array(z.object({ question: z.string(), asked: z.int(), lastAskedAt: z.iso.datetime() }))
      .describe('Unanswered questions of visitors that are not golden questions, the most frequent first.'),
  })
  .meta({ id: 'GoldenCandidatePage' })

export type GoldenMessages = z.output<typeof messages>
export type NewGoldenQuestion = z.output<typeof createGoldenQuestionSchema>
export type GoldenQuestionUpdate = z.output<typeof updateGoldenQuestionSchema>
export type GoldenQuestionBody = z.output<typeof goldenQuestionSchema>
export type GoldenImportBody = z.output<typeof goldenImportSchema>
export type GoldenImportOptions = z.output<typeof importGoldenQuestionsQuerySchema>
export type GoldenRegressionBody = NonNullable<z.output<typeof goldenRegressionSchema>>
export type GoldenExportBody = z.output<typeof goldenExportSchema>
export type GoldenCandidatePageBody = z.output<typeof goldenCandidatePageSchema>
export type ListGoldenQuestionsQuery = z.output<typeof listGoldenQuestionsQuerySchema>
