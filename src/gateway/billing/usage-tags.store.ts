import { columnsOf, type Queryable } from '../../platform/database/index.ts'
import { usageTagLimits } from '../../contract/usage-reports.ts'
import { isFailed, otherTags } from './usage-tables.ts'

/** Sums of tagged entries, within the limits of keys and values. Runs under the lock of the counting, so nothing changes meanwhile. */

interface TaggedEntry {
  requestId: string
  organisationId: string
  startedAt: Date
  day: string
  model: string
  failed: boolean
  prompt: bigint
  completion: bigint
  cached: bigint
  reasoning: bigint
  billed: bigint
  tags: Record<string, string>
}

/** One tag of one entry. */
interface TaggedPair extends Omit<TaggedEntry, 'tags'> {
  key: string
  value: string
  tagId: bigint
}

/** Counts the queued tags of these entries. Where the room for values ends, the earlier calls have it. */
export async function countTags(transaction: Queryable, requestIds: string[]): Promise<void> {
  const entries = await transaction.query<TaggedEntry>(
    `select e.request_id as "requestId", e.organisation_id as "organisationId", e.started_at as "startedAt", e.model,
       to_char(e.started_at at time zone usage_zone_of(e.organisation_id), 'YYYY-MM-DD') as day, ${isFailed} as failed,
       e.prompt_tokens as prompt, e.completion_tokens as completion, e.cached_tokens as cached, e.reasoning_tokens as reasoning,
       e.billed_pico_usd as billed, q.tags
     from usage_queued_tags q join ledger_entries e using (request_id) where q.request_id = any($1::text[])
     order by e.started_at, e.request_id`,
    [requestIds],
  )
  const keys = await admitKeys(transaction, entries)
  const pairs = entries.flatMap(({ tags, ...entry }) =>
    Object.entries(tags).flatMap(([key, value]) =>
      keys.has(placeOf(entry.organisationId, key)) ? [{ ...entry, key, value, tagId: otherTags }] : [],
    ),
  )
  await findTagIds(transaction, pairs)
  await admitValues(transaction, pairs)
  await addSums(transaction, pairs)
  const recorded = pairs.filter(({ tagId }) => tagId !== otherTags)
  await transaction.execute(
    `insert into usage_request_tags (organisation_id, tag_id, started_at, request_id)
     select * from unnest($1::uuid[], $2::int8[], $3::timestamptz[], $4::text[]) on conflict do nothing`,
    columnsOf(recorded, 'organisationId', 'tagId', 'startedAt', 'requestId'),
  )
  await transaction.execute('delete from usage_queued_tags where request_id = any($1::text[])', [requestIds])
}

/** The keys that count, by organisation. New ones are admitted in the order of their names while there is room. */
async function admitKeys(transaction: Queryable, entries: readonly TaggedEntry[]): Promise<Set<string>> {
  const organisations = [...new Set(entries.map(({ organisationId }) => organisationId))]
  const known = await transaction.query<{ id: string; key: string }>(
    'select organisation_id as id, key from usage_tag_keys where organisation_id = any($1::uuid[])',
    [organisations],
  )
  const admitted = new Set(known.map(({ id, key }) => placeOf(id, key)))
  const room = new Map<string, number>(organisations.map((id) => [id, usageTagLimits.keysPerOrganisation]))
  for (const { id } of known) room.set(id, room.get(id)! - 1)
  const fresh: { id: string; key: string }[] = []
  for (const { organisationId: id, tags } of entries) {
    for (const key of Object.keys(tags).sort()) {
      const left = room.get(id)!
      if (admitted.has(placeOf(id, key)) || left <= 0) continue
      admitted.add(placeOf(id, key))
      room.set(id, left - 1)
      fresh.push({ id, key })
    }
  }
  if (fresh.length > 0) {
    await transaction.execute(
      'insert into usage_tag_keys (organisation_id, key) select * from unnest($1::uuid[], $2::text[])',
      columnsOf(fresh, 'id', 'key'),
    )
  }
  return admitted
}

/** Sets the ids of values that are known already. */
async function findTagIds(transaction: Queryable, pairs: readonly TaggedPair[]): Promise<void> {
  const rows = await transaction.query<{ id: string; key: string; value: string; tagId: bigint }>(
    `select t.organisation_id as id, t.key, t.value, t.tag_id as "tagId"
     from (select distinct * from unnest($1::uuid[], $2::text[], $3::text[]) as p (organisation_id, key, value)) as p
     join usage_tags t using (organisation_id, key, value)`,
    columnsOf(pairs, 'organisationId', 'key', 'value'),
  )
  const ids = new Map(rows.map((row) => [placeOf(row.id, row.key, row.value), row.tagId]))
  for (const pair of pairs) pair.tagId = ids.get(placeOf(pair.organisationId, pair.key, pair.value)) ?? otherTags
}

/** Decides which values still have room on their day, gives new values an id, and resets the id of values above the limit. */
async function admitValues(transaction: Queryable, pairs: readonly TaggedPair[]): Promise<void> {
  const groups = Map.groupBy(pairs, ({ organisationId, key, day }) => placeOf(organisationId, key, day))
  const days = [...groups.values()].map(([first]) => first!)
  const counts = await transaction.query<{ different: number; tagIds: bigint[] }>(
    `select coalesce(v.different_values, 0) as different,
       array(select distinct d.tag_id from usage_tag_days d
         where d.organisation_id = p.organisation_id and d.key = p.key and d.day = p.day::date and d.tag_id = any($4::int8[])) as "tagIds"
     from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as p (organisation_id, key, day, place)
     left join usage_tag_day_values v on v.organisation_id = p.organisation_id and v.key = p.key and v.day = p.day::date
     order by p.place`,
    [...columnsOf(days, 'organisationId', 'key', 'day'), [...new Set(pairs.map(({ tagId }) => tagId))]],
  )
  const refused: TaggedPair[] = []
  const fresh: TaggedPair[] = []
  const different: number[] = []
  for (const [place, group] of [...groups.values()].entries()) {
    const count = counts[place]!
    const present = new Set(count.tagIds)
    const seen = new Set<string>()
    let left = usageTagLimits.valuesPerKeyAndDay - count.different
    for (const candidate of group) {
      if (present.has(candidate.tagId) && candidate.tagId !== otherTags) continue
      if (!seen.has(candidate.value)) {
        if (left <= 0) {
          refused.push(candidate)
          continue
        }
        seen.add(candidate.value)
        left -= 1
      }
      if (candidate.tagId === otherTags) fresh.push(candidate)
    }
    different.push(usageTagLimits.valuesPerKeyAndDay - left)
  }
  for (const pair of refused) pair.tagId = otherTags
  if (fresh.length > 0) await insertTags(transaction, fresh)
  await transaction.execute(
    `insert into usage_tag_day_values (organisation_id, key, day, different_values)
     select * from unnest($1::uuid[], $2::text[], $3::date[], $4::int4[])
     on conflict (organisation_id, key, day) do update set different_values = excluded.different_values`,
    [...columnsOf(days, 'organisationId', 'key', 'day'), different],
  )
}

async function insertTags(transaction: Queryable, fresh: readonly TaggedPair[]): Promise<void> {
  await transaction.execute(
    `insert into usage_tags (organisation_id, key, value)
     select distinct * from unnest($1::uuid[], $2::text[], $3::text[]) on conflict do nothing`,
    columnsOf(fresh, 'organisationId', 'key', 'value'),
  )
  await findTagIds(transaction, fresh)
}

const summed = {
  requests: 'count(*)',
  failed_requests: 'count(*) filter (where failed)',
  prompt_tokens: 'sum(prompt)::int8',
  completion_tokens: 'sum(completion)::int8',
  cached_tokens: 'sum(cached)::int8',
  reasoning_tokens: 'sum(reasoning)::int8',
  billed_pico_usd: 'sum(billed)::int8',
}

/** Adds the pairs to a table of sums with these keys. */
function addTo(table: string, keys: string): string {
  const columns = Object.keys(summed)
  return `insert into ${table} (${keys}, ${columns.join(', ')})
    select ${keys}, ${Object.values(summed).join(', ')} from pairs group by ${keys} order by ${keys}
    on conflict (${keys}) do update set ${columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`
}

async function addSums(transaction: Queryable, pairs: readonly TaggedPair[]): Promise<void> {
  await transaction.query(
    `with pairs as materialized (
       select * from unnest($1::uuid[], $2::text[], $3::date[], $4::int8[], $5::text[], $6::bool[], $7::int8[], $8::int8[], $9::int8[],
         $10::int8[], $11::int8[]) as p (organisation_id, key, day, tag_id, model, failed, prompt, completion, cached, reasoning, billed)
     ), by_model as (
       ${addTo('usage_tag_days', 'organisation_id, key, day, tag_id, model')}
     ), by_tag as (
       ${addTo('usage_tag_sums', 'organisation_id, key, day, tag_id')}
     ) select 1`,
    [
      ...columnsOf(pairs, 'organisationId', 'key', 'day', 'tagId', 'model', 'failed'),
      ...columnsOf(pairs, 'prompt', 'completion', 'cached', 'reasoning', 'billed'),
    ],
  )
}

/** The key of a map. */
function placeOf(...parts: string[]): string {
  return JSON.stringify(parts)
}
