import type { WebSourceBody, WebSourceErrorCode } from '../../../contract/web-sources.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../../../platform/kernel/index.ts'

export type Refresh = 'day' | 'week'
export type WebSourceState = WebSourceBody['state'] | 'removed'

/** An address whose content is a document, which has the same id, or a sitemap. */
export interface WebSource {
  id: DocumentId
  organisationId: OrganisationId
  spaceId: SpaceId
  kind: 'page' | 'sitemap'
  url: string
  sitemapId: string | null
  pageLimit: number | null
  name: string | null
  /** The text of a JSON object. */
  metadataJson: string | null
  refresh: Refresh | null
  state: WebSourceState
  errorCode: WebSourceErrorCode | null
  errorMessage: string | null
  etag: string | null
  lastModified: string | null
  /** Hexadecimal. */
  contentSha256: string | null
  /** In a row. */
  failures: number
  readAt: Date | null
  nextReadAt: Date | null
  createdAt: Date
  hasDocument: boolean
}

/** The job that reads a source. Its payload has the `sourceId`. */
export const readWebSourceJob = 'read-web-source'
export const readingKey = (id: string) => `${readWebSourceJob}:${id}`

const dayMs = 24 * 60 * 60_000
const firstRetryMs = 60_000
/** Attempts of a source that is not read on a schedule; the last one is half an hour after the first. */
const maximumFailures = 6

const periodMs = (refresh: Refresh) => (refresh === 'day' ? dayMs : 7 * dayMs)

/** When a source that was read, or is gone, is read again. */
export function nextReadAt(refresh: Refresh | null, nowMs: number): Date | null {
  return refresh === null ? null : new Date(nowMs + periodMs(refresh))
}

export interface Failure {
  code: WebSourceErrorCode
  message: string
  /** Another attempt soon would end in the same way. */
  isPermanent: boolean
  /** From Retry-After. */
  retryAfterMs?: number
}

/** What becomes of a source after a failed attempt: `failures` in a row, this one included. */
export function afterFailure(
  { refresh, failures }: Pick<WebSource, 'refresh' | 'failures'>,
  { isPermanent, retryAfterMs = 0 }: Omit<Failure, 'code' | 'message'>,
  nowMs: number,
): { state: 'failing' | 'failed'; nextReadAt: Date | null } {
  const isOver = isPermanent || failures >= maximumFailures
  if (isOver) return { state: refresh ? 'failing' : 'failed', nextReadAt: nextReadAt(refresh, nowMs) }
  const backoffMs = Math.max(firstRetryMs * 2 ** (failures - 1), Math.min(retryAfterMs, dayMs))
  return { state: 'failing', nextReadAt: new Date(nowMs + backoffMs) }
}

export function renderWebSource(source: WebSource): WebSourceBody {
  const { id, spaceId, kind, url, state, errorCode, errorMessage, sitemapId, refresh } = source
  return {
    id,
    spaceId,
    kind,
    url,
    state: state === 'removed' ? 'failed' : state,
    error: errorCode && { code: errorCode, message: errorMessage ?? '' },
    documentId: source.hasDocument ? id : null,
    sitemapId,
    refresh: refresh && { every: refresh },
    readAt: source.readAt?.toISOString() ?? null,
    nextReadAt: source.nextReadAt?.toISOString() ?? null,
    createdAt: source.createdAt.toISOString(),
  }
}
