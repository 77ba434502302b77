import { Temporal } from 'temporal-polyfill'
import { formatPicoUsd, invalidField } from '../../platform/kernel/index.ts'
import type { UsageRequest, UsageRequestsQuery } from '../../contract/usage-reports.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { startOfDay } from './periods.ts'
import { loadRemovedTo } from './retention.store.ts'
import type { UsageSubject } from './usage-range.ts'
import type { UsageOptions } from './usage-reports.store.ts'
import {
  findDayWithCalls,
  isSelective,
  loadRequestChunk,
  loadRequestTags,
  type RequestFilter,
  type RequestPlace,
  type RequestRow,
} from './usage-requests.store.ts'
import type { ChosenUsage } from './usage-split.ts'

/** Requests that one statement reads, and one page. A rare filter can need several pages; each takes a bounded time. */
const readPerStatement = 2_000
const readPerPage = 10_000

export type RequestPageQuery = UsageRequestsQuery

type BareRequest = Omit<UsageRequest, 'spaceName'>

/** A page without the names of Spaces, which this room does not know. `options` on the first page. */
export interface UsageRequestsPage {
  items: BareRequest[]
  options?: UsageOptions
  nextCursor: string | null
  searchedTo: string
  removedTo: string | null
}

interface Search extends UsageRequestsQuery, ChosenUsage {}

export async function loadRequestPage(
  database: OwnedDatabase,
  { timeZone }: UsageSubject,
  { range, filter, source, ending, cursor, limit }: Search,
): Promise<UsageRequestsPage> {
  const { organisationId, model, surface, spaceId } = filter
  const tagId = source.kind === 'tag' ? source.tagId : null
  const removedToMs = (await loadRemovedTo(database)) ?? range.fromMs
  const fromMs = Math.min(Math.max(range.fromMs, removedToMs), range.toMs)
  const wanted: RequestFilter = {
    organisationId,
    fromMs,
    model,
    surface,
    spaceId,
    ending: ending ?? null,
    tagId,
  }
  let place: RequestPlace | undefined =
    cursor === undefined ? { startedAtMs: range.toMs, requestId: '' } : parseCursor(cursor)
  const found: RequestRow[] = []
  // Tags and endings have indexes. Otherwise, the sums of days show which days have nothing to find.
  const skipsDays = tagId === null && (model !== null || surface !== null || spaceId !== null)
  for (let read = 0; read < readPerPage && found.length < limit && place; read += readPerStatement) {
    if (skipsDays) place = await skipDays(database, wanted, place, timeZone)
    if (!place) break
    const left = limit - found.length
    const bounds = { read: isSelective(wanted) ? readPerStatement : left, limit: left }
    const chunk: Awaited<ReturnType<typeof loadRequestChunk>> = await loadRequestChunk(database, wanted, place, bounds)
    found.push(...chunk.rows)
    place = chunk.last
  }
  return {
    items: await renderRequests(database, found),
    nextCursor: place ? `${place.startedAtMs}_${place.requestId}` : null,
    searchedTo: new Date(place?.startedAtMs ?? fromMs).toISOString(),
    removedTo: removedToMs > range.fromMs ? new Date(removedToMs).toISOString() : null,
  }
}

/** The end of the last day, up to the place, that has calls which pass the filter. */
async function skipDays(
  database: OwnedDatabase,
  filter: RequestFilter,
  place: RequestPlace,
  timeZone: string,
): Promise<RequestPlace | undefined> {
  const day = Temporal.Instant.fromEpochMilliseconds(place.startedAtMs).toZonedDateTimeISO(timeZone).toPlainDate()
  // One day more on both sides: days were counted in the zone of their time.
  const last = await findDayWithCalls(database, filter, day.add({ days: 1 }).toString())
  if (last === undefined) return undefined
  const endMs = startOfDay(Temporal.PlainDate.from(last).add({ days: 2 }), timeZone)
  return endMs < place.startedAtMs ? { startedAtMs: endMs, requestId: '' } : place
}

function parseCursor(cursor: string): RequestPlace {
  const match = /^(\d{1,15})_([^\0]*)$/.exec(cursor)
  if (!match) throw invalidField('cursor', '`cursor` is not the `nextCursor` of a page.')
  return { startedAtMs: Number(match[1]), requestId: match[2]! }
}

async function renderRequests(database: OwnedDatabase, rows: readonly RequestRow[]): Promise<BareRequest[]> {
  const tags =
    rows.length === 0
      ? []
      : await loadRequestTags(
          database,
          rows.map(({ requestId }) => requestId),
        )
  const tagsOf = Map.groupBy(tags, ({ requestId }) => requestId)
  return rows.map(({ startedAtMs, settledAtMs, billedPicoUsd, ...row }) => ({
    ...row,
    startedAt: new Date(startedAtMs).toISOString(),
    durationMs: Math.max(0, settledAtMs - startedAtMs),
    billedUsd: formatPicoUsd(billedPicoUsd),
    tags: (tagsOf.get(row.requestId) ?? []).map(({ key, value }) => ({ key, value })),
  }))
}
