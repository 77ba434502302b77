import { z } from 'zod'
import { documentFormats, documentV2PageSchema, listQuerySchema } from './documents.ts'
import { documentSorts } from './document-progress.ts'

/** Lists of version 2 of the document interface, with filters. */

const maximumNameCharacters = 255
const name = z
  .string()
  .max(maximumNameCharacters)
  .refine((text) => !text.includes('\u0000') && text.isWellFormed(), 'must be valid Unicode without U+0000')
/** A day, or a time. */
const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'must be a date such as 2026-12-31 or a time such as 2026-12-31T23:00:00Z',
})
const texts = z.union([z.string(), z.array(z.string())])

export const filteredListQuerySchema = listQuerySchema
  .extend({
    status: z.enum(['processing', 'ready', 'failed']).optional(),
    type: z.enum(documentFormats).optional().describe('The format of the file.'),
    name: name.optional().describe('Part of the name, in any case.'),
    namePrefix: name.optional().describe('Beginning of the name, in any case.'),
    createdFrom: time.optional().describe('Created at this time or later; a day begins at 0:00 UTC.'),
    createdBefore: time.optional().describe('Created before this time.'),
    sort: z.enum(documentSorts).default('newest'),
    after: z.string().max(4096).optional().describe('`next` of an earlier page: continues after its last document.'),
  })
  .catchall(texts)

export const filteredDocumentPageSchema = documentV2PageSchema
  .extend({ next: z.string().nullable().describe('For `after`; null if this page is empty.') })
  .meta({ id: 'FilteredDocumentPage' })

export type FilteredListQuery = z.output<typeof filteredListQuerySchema>
