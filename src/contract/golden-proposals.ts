import { z } from 'zod'

/** Golden questions that Portico makes from passages of a Space, for people to review. They count once a person adds them. */

export const maximumProposals = 10

const usd = z.string().describe('US dollars as an exact decimal.')

export const goldenProposalsOfferSchema = z
  .object({
    model: z.string().describe('The model of the Space.'),
    callsModel: z.boolean().describe('false: the built-in model writes no questions.'),
    maximum: z.int().describe('Most questions of one request.'),
    estimatedCostUsd: usd.describe('Of one question: an estimate, in US dollars.'),
  })
  .meta({ id: 'GoldenProposalsOffer' })

export const createGoldenProposalsSchema = z
  .strictObject({ count: z.int().min(1).max(maximumProposals).default(5).describe('How many questions to make.') })
  .meta({ id: 'CreateGoldenProposals' })

export const goldenProposalsSchema = z
  .object({
    items: z
      .array(
        z.object({
          question: z.string(),
          expectedDocuments: z.array(z.object({ id: z.uuid(), name: z.string() })),
          expectedFacts: z.array(z.string()).describe('Texts of the passage.'),
          passage: z.string().describe('What the question was made from.'),
        }),
      )
      .describe('Fewer than asked for where the Space has too few passages that answer something.'),
    costUsd: usd,
  })
  .meta({ id: 'GoldenProposals' })

export type GoldenProposalsOfferBody = z.output<typeof goldenProposalsOfferSchema>
export type GoldenProposalsBody = z.output<typeof goldenProposalsSchema>
