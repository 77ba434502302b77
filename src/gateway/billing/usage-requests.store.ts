import type { usageEndings } from '../../contract/usage-reports.ts'
import type { SpaceId } from '../../platform/kernel/index.ts'
import type { Queryable } from '../../platform/database/index.ts'
import { failedEndings, isFailed, noSpace } from './usage-tables.ts'
import type { Surface } from './port.ts'

/** Single requests, newest first. Every query reads a bounded number of index entries. */

/** A place in the list: requests before it follow. */
export interface RequestPlace {
  startedAtMs: number
  requestId: string
}

export interface RequestFilter {
  organisationId: string
  fromMs: number
  model: string | null
  surface: string | null
  /** `noSpace` for requests outside of Spaces. */
  spaceId: string | null
  ending: (typeof usageEndings)[number] | 'failed' | null
  tagId: bigint | null
}

export interface RequestRow {
  requestId: string
  startedAtMs: number
  settledAtMs: number
  firstTokenMs: number | null
  surface: Surface
  spaceId: SpaceId | null
  model: string
  hosting: string | null
  promptTokens: number
  completionTokens: number
  billedPicoUsd: bigint
  estimated: boolean
  ending: string
  failure: string | null
  schemaMismatch: string | null
}

export interface RequestChunk {
  rows: RequestRow[]
  /** The last request that was read, whether it matched or not; undefined: nothing is left. */
  last: RequestPlace | undefined
}

/**
 * The entries to look at, newest first, from the narrowest index. $1 organisation, $2 and $3 place, $4 start, $5 limit, $6 tag.
 */
function candidatesOf({ tagId, ending }: RequestFilter): string {
  const before =
    '(started_at, request_id) < ($2::timestamptz, $3::text) and started_at <= $2::timestamptz and started_at >= $4::timestamptz'
  const newest = 'order by started_at desc, request_id desc limit $5'
  const entriesOf = (ids: string) => `select e.* from (${ids}) as ids join ledger_entries e using (request_id)`
  if (tagId !== null) {
    return entriesOf(
      `select request_id from usage_request_tags where organisation_id = $1 and tag_id = $6 and ${before} ${newest}`,
    )
  }
  const rare = rareEndings(ending)
  if (rare.length > 0) {
    // One bounded index scan for each ending.
    const each = rare.map(
      (name) => `(select request_id, started_at from usage_endings
        where organisation_id = $1 and ending = '${name}' and ${before} ${newest})`,
    )
    return entriesOf(`select request_id from (${each.join(' union all ')}) as ended ${newest}`)
  }
  return `select * from ledger_entries where organisation_id = $1 and ${before} ${newest}`
}

/** Endings that have an index. */
function rareEndings(ending: RequestFilter['ending']): readonly string[] {
  if (ending === 'failed') return [...failedEndings, 'unanswered']
  return ending === 'completed' || ending === null ? [] : [ending]
}

/** Whether some of the candidates may not match. */
export function isSelective({ model, surface, spaceId, tagId, ending }: RequestFilter): boolean {
  const isIndexed = ending === null || (tagId === null && ending !== 'completed' && ending !== 'failed')
  return model !== null || surface !== null || spaceId !== null || !isIndexed
}

interface StoredRequest extends Omit<RequestRow, 'startedAtMs' | 'settledAtMs'> {
  matches: true
  startedAt: Date
  settledAt: Date
}

/** Reads up to `read` requests before `place`; at most `limit` of those that match are returned, and then `last` is the last of them. */
export async function loadRequestChunk(
  database: Queryable,
  filter: RequestFilter,
  place: RequestPlace,
  { read, limit }: { read: number; limit: number },
): Promise<RequestChunk> {
  const rows = await database.query<StoredRequest | { matches: false; requestId: string; startedAt: Date }>(
    `with candidates as materialized (${candidatesOf(filter)}),
     matching as (
       select * from candidates where $6::int8 is not null and ($7::text is null or ($7 = 'failed' and ${isFailed}) or ending = $7)
         and ($8::text is null or model = $8) and ($9::text is null or surface = $9)
         and ($10::uuid is null or coalesce(space_id, '${noSpace}') = $10)
       order by started_at desc, request_id desc limit $11)
     select true as matches, request_id as "requestId", started_at as "startedAt", settled_at as "settledAt",
       first_token_ms as "firstTokenMs", surface, space_id as "spaceId", model, hosting, prompt_tokens::float8 as "promptTokens",
       completion_tokens::float8 as "completionTokens", billed_pico_usd as "billedPicoUsd", estimated, ending, failure,
       schema_mismatch as "schemaMismatch"
     from matching
     union all
     (select false, request_id, started_at, null, null, null, null, null, null, null, null, null, null, null, null, null
      from candidates order by started_at, request_id limit 1)
     order by 1 desc, 3 desc, 2 desc`,
    [
      filter.organisationId,
      new Date(place.startedAtMs),
      place.requestId,
      new Date(filter.fromMs),
      read,
      filter.tagId ?? 0n,
      filter.ending,
      filter.model,
      filter.surface,
      filter.spaceId,
      limit,
    ],
  )
  const found = rows.flatMap((row) => (row.matches ? [requestOf(row)] : []))
  const oldest = rows.find(({ matches }) => !matches)
  if (!oldest) return { rows: found, last: undefined }
  const last =
    found.length === limit ? found.at(-1)! : { startedAtMs: oldest.startedAt.getTime(), requestId: oldest.requestId }
  return { rows: found, last: { startedAtMs: last.startedAtMs, requestId: last.requestId } }
}

function requestOf({ matches: _matches, startedAt, settledAt, ...row }: StoredRequest): RequestRow {
  return { ...row, startedAtMs: startedAt.getTime(), settledAtMs: settledAt.getTime() }
}

/** The last day up to `day` with calls that pass the filter; undefined if there is none. */
export async function findDayWithCalls(
  database: Queryable,
  filter: RequestFilter,
  day: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ day: string | null }>(
    `select to_char(max(day), 'YYYY-MM-DD') as day from usage_days where organisation_id = $1 and day <= $2::date
       and ($3::text is null or model = $3) and ($4::text is null or surface = $4) and ($5::uuid is null or space_id = $5)`,
    [filter.organisationId, day, filter.model, filter.surface, filter.spaceId],
  )
  return row!.day ?? undefined
}

export interface RequestTag {
  requestId: string
  key: string
  value: string
}

export function loadRequestTags(database: Queryable, requestIds: readonly string[]): Promise<RequestTag[]> {
  return database.query<RequestTag>(
    `select r.request_id as "requestId", t.key, t.value from usage_request_tags r join usage_tags t using (tag_id)
     where r.request_id = any($1::text[]) order by t.key`,
    [requestIds],
  )
}
