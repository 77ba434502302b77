import { z } from 'zod'
import { pageOf, queryInteger } from './query-integer.ts'

/** Documents from web addresses, and sitemaps that name such addresses. */

export const webSourceLimits = {
  /** Characters of an address. */
  urlLength: 2_000,
  /** Addresses of an organisation. */
  perOrganisation: 10_000,
  sitemapPages: 5_000,
  defaultSitemapPages: 500,
  /** Bytes of a page; a sitemap may have as many. */
  pageBytes: 20 * 1024 * 1024,
} as const

const address = z.string().max(webSourceLimits.urlLength)

export const newWebSourceSchema = z
  .strictObject({
    url: address.optional().describe('The address of one document, http or https.'),
    sitemap: address
      .optional()
      .describe('The address of a sitemap, instead of `url`: each of its pages is a document.'),
    limit: z
      .int()
      .min(1)
      .max(webSourceLimits.sitemapPages)
      .optional()
      .describe(`With \`sitemap\`: at most so many pages, default ${webSourceLimits.defaultSitemapPages}.`),
    name: z.string().min(1).max(1000).optional().describe('With `url`: display name instead of the title of the page.'),
    metadata: z.record(z.string(), z.unknown()).optional().describe('Metadata of the documents; `url` is added to it.'),
    refresh: z
      .strictObject({ every: z.enum(['day', 'week']) })
      .nullable()
      .optional()
      .describe('Reads the address again a day or a week after the last time. null (default): once.'),
  })
  .refine((body) => (body.url === undefined) !== (body.sitemap === undefined), {
    error: 'must have either `url` or `sitemap`',
  })
  .refine((body) => body.sitemap !== undefined || body.limit === undefined, {
    path: ['limit'],
    error: 'is for a `sitemap`',
  })
  .refine((body) => body.url !== undefined || body.name === undefined, { path: ['name'], error: 'is for a `url`' })

/** Why an address could not be read: a closed list. */
export const webSourceErrorCodes = [
  'unreachable',
  'address_refused',
  'too_many_redirects',
  'refused_by_host',
  'not_found',
  'too_large',
  'unsupported_type',
  'no_sitemap',
  'internal_error',
] as const

export const webSourceSchema = z
  .object({
    id: z.uuid(),
    spaceId: z.uuid(),
    kind: z.enum(['page', 'sitemap']),
    url: z.string(),
    state: z
      .enum(['waiting', 'read', 'gone', 'failing', 'failed'])
      .describe(
        '`waiting`: not read yet. `gone`: the host answers 404 or 410; the document stays, with a warning. `failing`: is tried again. `failed`: is not tried again.',
      ),
    error: z
      .object({ code: z.enum(webSourceErrorCodes), message: z.string() })
      .nullable()
      .describe('Why the last attempt failed.'),
    documentId: z.uuid().nullable().describe('The document of a page; null until it was read.'),
    sitemapId: z.uuid().nullable().describe('The sitemap that named the page.'),
    refresh: z.object({ every: z.enum(['day', 'week']) }).nullable(),
    readAt: z.iso.datetime().nullable(),
    nextReadAt: z.iso.datetime().nullable().describe('Not before this time; null: not read again.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'WebSource' })

export const webSourcePageSchema = pageOf(webSourceSchema).meta({ id: 'WebSourcePage' })

const defaultPageSize = 20
const page = {
  offset: queryInteger(0, Number.MAX_SAFE_INTEGER).default(0).meta({ type: 'integer', pattern: undefined, minimum: 0 }),
  limit: queryInteger(1, 100)
    .default(defaultPageSize)
    .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: 100 }),
}
export const webSourcePlaceSchema = z.object(page)
export const webSourceQuerySchema = z.object({ spaceId: z.uuid('must be the UUID of a Space'), ...page })

export const spaceSourceParamsSchema = z.object({ id: z.string(), sourceId: z.string() })

export type NewWebSourceBody = z.infer<typeof newWebSourceSchema>
export type WebSourceErrorCode = (typeof webSourceErrorCodes)[number]
export type WebSourceBody = z.infer<typeof webSourceSchema>
