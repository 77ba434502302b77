import { z } from 'zod'

/** The arguments by which tools select documents. */

const maximumNameLength = 300
const maximumFields = 10

export const documentFilter = {
  name: z.string().trim().max(maximumNameLength).nullish(),
  metadata: z
    .record(z.string().max(maximumNameLength), z.union([z.string().max(maximumNameLength), z.number(), z.boolean()]))
    .refine((fields) => Object.keys(fields).length <= maximumFields, {
      error: `must have at most ${maximumFields} fields`,
    })
    .transform((fields) => Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, String(value)])))
    .nullish(),
}

export const filterProperties = {
  name: { type: 'string', description: 'Only documents whose name contains this text.' },
  metadata: {
    type: 'object',
    description: 'Only documents with these values in their metadata, for example {"department": "sales"}.',
  },
}
