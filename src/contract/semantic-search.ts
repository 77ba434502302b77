import { z } from 'zod'
import { settingsVersionSchema } from './settings-version.ts'

/** Search by meaning: the embedding model of the installation, as operators choose it in the console. */

const dollars = z.string().describe('US dollars, decimal.')

export const putSemanticSearchSchema = z
  .strictObject({ model: z.string().min(1).max(200).describe('The `model` of an offer, or of `local`.') })
  .meta({ id: 'PutSemanticSearch' })

export const semanticSearchSchema = z
  .object({
    source: z
      .enum(['configuration', 'console'])
      .nullable()
      .describe('Who names the embedding model. The configuration wins; null: nobody, so search compares spelling.'),
    model: z.string().nullable().describe('The model that operators chose; null: none.'),
    embedder: z.string().describe('What makes vectors of new documents.'),
    hasSemantics: z.boolean().describe('It compares meaning, not only spelling.'),
    offers: z
      .array(
        z.object({
          model: z.string(),
          providers: z.array(z.string()),
          hostings: z.array(z.string()).describe('Where the texts are sent, as the operator declared it.'),
          dimensions: z.int(),
          inputPerMillion: dollars.describe('Price of a million tokens, in US dollars.'),
          cost: dollars.describe('Of embedding all stored documents once: an estimate, in US dollars.'),
        }),
      )
      .describe('Embedding models of the providers, the cheapest first.'),
    stored: z.object({
      documents: z.int(),
      tokens: z.int().describe('Of all documents that are ready: an estimate.'),
    }),
    indexing: z
      .object({
        startedAt: z.iso.datetime(),
        documentsDone: z.int(),
        documentsTotal: z.int(),
        problem: z
          .object({
            reason: z.string(),
            organisations: z
              .array(z.object({ id: z.string(), name: z.string().nullable() }))
              .describe('Whose documents wait; empty: all of them.'),
          })
          .nullable()
          .describe('Why documents wait. Portico tries again every ten minutes, and when the same model is set again.'),
      })
      .nullable()
      .describe('While documents are embedded; until the end, search uses the model before. null: nothing to do.'),
    local: z
      .object({
        model: z.string().describe('Of the hub, as `embeddings.model` takes it.'),
        licence: z.string(),
        bytes: z.int().describe('Of all its files.'),
        hasFiles: z.boolean().describe('This instance has all its files.'),
        hasRuntime: z.boolean().describe('This instance has the package that runs local models.'),
        install: z
          .object({
            state: z.enum(['running', 'done', 'failed', 'stopped']),
            host: z.string().describe('The machine whose data folder has the files.'),
            folder: z.string(),
            bytesDone: z.int(),
            problem: z.string().nullable().describe('Why it failed; null: the instance has ended.'),
          })
          .nullable()
          .describe('The last installation that the console began; null: none.'),
      })
      .describe('An open model that needs no provider.'),
    version: settingsVersionSchema,
  })
  .meta({ id: 'SemanticSearch' })

export type SemanticSearchBody = z.output<typeof semanticSearchSchema>
