import { z } from 'zod'
import { keyDisplaySchema, spaceSchema } from './operator.ts'
import { paging } from './query-integer.ts'

/** The views of Spaces and of Team Settings > Published Spaces. */

const documentsSchema = z
  .object({ processing: z.int(), ready: z.int(), failed: z.int(), sizeBytes: z.int() })
  .describe(
    'Number of documents by status, and the size of all of them. A document with new content in progress is `processing`.',
  )

export const spaceListQuerySchema = z.object({
  search: z.string().max(200).optional().describe('A part of the name, not case-sensitive.'),
  state: z.enum(['published', 'unpublished']).optional().describe('Only Spaces in this state.'),
  ...paging(20),
})

const spaceFields = spaceSchema.omit({ instructions: true, settings: true })

const listedSpaceSchema = spaceFields.extend({
  modelAvailable: z.boolean().describe('Whether the organisation can call the model now.'),
  documents: documentsSchema,
})

export const spaceListSchema = z
  .object({
    total: z.int().describe('Spaces that match.'),
    limit: z.int(),
    offset: z.int(),
    items: z.array(listedSpaceSchema),
  })
  .meta({ id: 'SpaceListView' })

export const spaceViewSchema = spaceSchema
  .extend({
    modelAvailable: z.boolean(),
    documents: documentsSchema,
    fallbackModel: z
      .string()
      .nullable()
      .describe(
        'The base-tier model that answers when credits are exhausted, if the Space allows it; null: there is none.',
      ),
  })
  .meta({ id: 'SpaceView' })

export const dollarsPerMillion = z.string().describe('US dollars per million tokens with the markup, an exact decimal.')

const selectableModelSchema = z.object({
  id: z.string().describe('For the field `model` of a Space.'),
  ownedBy: z.string(),
  tier: z.enum(['base', 'premium']),
  contextTokens: z.int(),
  maxOutputTokens: z.int(),
  hostings: z.array(z.string()),
  input: dollarsPerMillion,
  output: dollarsPerMillion,
})

/** The view has at most this many models; the longest lists of providers have some hundreds. */
export const maximumSelectableModels = 2_000

export const spaceModelsSchema = z
  .object({
    models: z.array(selectableModelSchema).describe('Models that the organisation can call now, by id.'),
    modelsTotal: z.int(),
    defaultModel: z.string().nullable().describe('The model of new Spaces; null if the organisation cannot call it.'),
  })
  .meta({ id: 'SpaceModelsView' })

export const publicationSchema = z
  .object({
    space: spaceFields,
    modelAvailable: z.boolean(),
    documents: documentsSchema,
    baseUrl: z.string().describe('The address of this service for clients.'),
    endpointUrl: z.string().nullable().describe('The address of the chat; null before the Space is first published.'),
    apiKey: keyDisplaySchema
      .pick({ prefix: true, lastFour: true })
      .nullable()
      .describe('The key of the organisation, without its secret part.'),
  })
  .meta({ id: 'PublicationView' })

export type SpaceListQuery = z.output<typeof spaceListQuerySchema>
export type SpaceListView = z.output<typeof spaceListSchema>
export type ListedSpaceView = SpaceListView['items'][number]
export type SpaceDocumentsView = z.output<typeof documentsSchema>
export type SpaceView = z.output<typeof spaceViewSchema>
export type SpaceModelsView = z.output<typeof spaceModelsSchema>
export type SelectableModelView = z.output<typeof selectableModelSchema>
export type PublicationView = z.output<typeof publicationSchema>
