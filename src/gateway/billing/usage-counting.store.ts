import { columnsOf, type OwnedDatabase, type Queryable } from '../../platform/database/index.ts'
import { bucketOf, isFailed, noSpace } from './usage-tables.ts'
import { countTags } from './usage-tags.store.ts'

/** Quarter hours are kept for longer than any report reads them. */
const keptSlotDays = 40

const tokens = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cache_write_tokens', 'reasoning_tokens']
const sums = ['requests', 'estimated_requests', 'failed_requests', ...tokens, 'billed_pico_usd', 'written_off_pico_usd']

/** Adds the counted entries to a table of sums with these keys. */
function addSums(table: string, keys: string): string {
  return `insert into ${table} (${keys}, ${sums.join(', ')})
    select ${keys}, ${sums.map((column) => `sum(${column})::int8`).join(', ')} from counted group by ${keys} order by ${keys}
    on conflict (${keys}) do update set ${sums.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`
}

/**
 * Adds the entries of the relation `ids (request_id)` to the tables, in CTEs that follow `ids`. Each entry is read once, and entries that differ in
 * no key of a table are added up first. A quarter hour is part of one day: offsets of time zones are multiples of 15 minutes. Rows are written in the order of their
 * keys. Only the holder of the lock writes, so the order matters for the flush of refused calls only.
 */
const addEntries = `
  found as materialized (
    select request_id, organisation_id, date_bin('15 minutes', started_at, 'epoch') as slot, model, surface,
      coalesce(space_id, '${noSpace}') as space_id, started_at, ending, failure, estimated,
      prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, billed_pico_usd,
      written_off_pico_usd, case when first_token_ms is not null then ${bucketOf('first_token_ms')} end as first_bucket,
      case when ending = 'completed' then ${bucketOf("date_part('epoch', settled_at - started_at) * 1000")} end as total_bucket
    from ledger_entries where request_id = any(array(select request_id from ids))
  ), zones as materialized (
    select organisation_id, usage_zone_of(organisation_id) as zone from (select distinct organisation_id from found) as present
  ), alike as materialized (
    select organisation_id, slot, model, surface, space_id, ending, failure, first_bucket, total_bucket,
      count(*) as requests, count(*) filter (where estimated) as estimated_requests,
      ${[...tokens, 'billed_pico_usd', 'written_off_pico_usd'].map((column) => `sum(${column}) as ${column}`).join(', ')}
    from found group by 1, 2, 3, 4, 5, 6, 7, 8, 9
  ), counted as materialized (
    select alike.*, (slot at time zone zone)::date as day, ${isFailed} as failed,
      case when ${isFailed} then requests else 0 end as failed_requests
    from alike join zones using (organisation_id)
  ), in_days as (
    ${addSums('usage_days', 'organisation_id, day, model, surface, space_id')}
  ), in_model_days as (
    ${addSums('usage_model_days', 'organisation_id, day, model, surface')}
  ), in_spaces as (
    insert into usage_spaces (organisation_id, space_id)
    select distinct organisation_id, space_id from counted where space_id <> '${noSpace}' order by 1, 2 on conflict do nothing
  ), in_latency as (
    insert into usage_latency_days
    select organisation_id, day, model, surface, bucket, sum(first_token), sum(total) from (
      select organisation_id, day, model, surface, first_bucket as bucket, requests as first_token, 0 as total
      from counted where first_bucket is not null
      union all
      select organisation_id, day, model, surface, total_bucket, 0, requests from counted where total_bucket is not null) as measured
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (organisation_id, day, model, surface, bucket) do update set
      first_tokens = usage_latency_days.first_tokens + excluded.first_tokens,
      totals = usage_latency_days.totals + excluded.totals
  ), in_slots as (
    insert into usage_slots
    select organisation_id, slot, sum(requests)::int8, sum(billed_pico_usd)::int8
    from counted where slot > now() - interval '${keptSlotDays} days' group by 1, 2 order by 1, 2
    on conflict (organisation_id, starts_at) do update set
      requests = usage_slots.requests + excluded.requests,
      billed_pico_usd = usage_slots.billed_pico_usd + excluded.billed_pico_usd
  ), in_failures as (
    insert into usage_failures
    select organisation_id, day, model, surface, false, coalesce(failure, ending), sum(requests)::int8
    from counted where failed group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (organisation_id, day, model, surface, refused, code) do update set
      requests = usage_failures.requests + excluded.requests
  ), in_endings as (
    insert into usage_endings
    select organisation_id, ending, started_at, request_id from found where ending <> 'completed' order by 1, 2, 3, 4
    on conflict do nothing
  )`

/** The holder counts entries; others skip their turn. Released with the transaction. */
const lockKey = 7_041_994_290n
export const countingTimeoutMs = 60_000

/** The lock of everything that changes sums; held until the end of the transaction. False: another transaction has it. */
export async function tryCountingLock(transaction: Queryable): Promise<boolean> {
  const [row] = await transaction.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
    lockKey,
  ])
  return row!.locked
}

interface CountedRound {
  /** Entries counted by this call. */
  entries: number
  /** False if there is nothing left to count, as far as this call knows. */
  more: boolean
  /** False: another instance is counting. */
  locked: boolean
}

/** Counts the oldest batches of the queue, with about `limit` entries together: at most one batch (256 entries) more. */
export function countQueued(database: OwnedDatabase, limit: number): Promise<CountedRound> {
  const count = async (transaction: Queryable): Promise<CountedRound> => {
    if (!(await tryCountingLock(transaction))) return { entries: 0, more: true, locked: false }
    const [round] = await transaction.query<{ batches: bigint; entries: bigint; tagged: string[] }>(
      `with oldest as (
         select batch_id, cardinality(request_ids) as entries from usage_queue order by batch_id limit $1
       ), chosen as (
         select batch_id, sum(entries) over (order by batch_id) - entries as entries_before from oldest
       ), taken as (
         delete from usage_queue where batch_id = any(array(select batch_id from chosen where entries_before < $1))
         returning request_ids
       ), ids as materialized (select unnest(request_ids) as request_id from taken), ${addEntries}
       select (select count(*) from taken) as batches, (select count(*) from ids) as entries,
         array(select request_id from usage_queued_tags where request_id = any(array(select request_id from ids))) as tagged`,
      [limit],
    )
    if (round!.tagged.length > 0) await countTags(transaction, round!.tagged)
    const entries = Number(round!.entries)
    return { entries, more: entries >= limit || Number(round!.batches) >= limit, locked: true }
  }
  return database.transaction(count, { timeoutMs: countingTimeoutMs, background: true })
}

/** Whether entries wait to be counted. */
export async function hasQueued(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ queued: boolean }>('select exists (select from usage_queue) as queued')
  return row!.queued
}

/** Counts up to `limit` entries from before migration 0090. `done`: there are none left. */
export function countOldEntries(database: OwnedDatabase, limit: number): Promise<{ done: boolean; locked: boolean }> {
  const count = async (transaction: Queryable) => {
    const [state] = await transaction.query<{ after: string; finished: boolean }>(
      'select after_request_id as after, finished_at is not null as finished from usage_backfill',
    )
    if (state!.finished) return { done: true, locked: true }
    if (!(await tryCountingLock(transaction))) return { done: false, locked: false }
    const [round] = await transaction.query<{ last: string | null }>(
      `with ids as materialized (
         select request_id from ledger_entries
         where request_id > (select after_request_id from usage_backfill) and not usage_queued order by request_id limit $1
       ), ${addEntries}
       select max(request_id) as last from ids`,
      [limit],
    )
    const { last } = round!
    await transaction.execute(
      last === null
        ? 'update usage_backfill set finished_at = clock_timestamp()'
        : 'update usage_backfill set after_request_id = $1',
      last === null ? [] : [last],
    )
    return { done: last === null, locked: true }
  }
  return database.transaction(count, { timeoutMs: countingTimeoutMs, background: true })
}

export async function isBackfilled(database: Queryable): Promise<boolean> {
  const [state] = await database.query<{ finished: boolean }>(
    'select finished_at is not null as finished from usage_backfill',
  )
  return state!.finished
}

const tidyRows = 5_000

/** Deletes a bounded number of rows that nothing reads any more, and tags of organisations that do not record them. */
export async function tidy(database: Queryable): Promise<void> {
  const options = { background: true }
  await database.execute(
    `delete from usage_slots where ctid = any(array(
       select ctid from usage_slots where starts_at < now() - $1::int8 * interval '1 day' limit $2))`,
    [keptSlotDays, tidyRows],
    options,
  )
  for (const table of [
    'usage_request_tags',
    'usage_tag_days',
    'usage_tag_model_spans',
    'usage_tag_sums',
    'usage_tag_spans',
    'usage_tag_day_values',
    'usage_tags',
    'usage_tag_keys',
    'ledger_removed_tags',
  ]) {
    await database.execute(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where organisation_id = any(array(select id from organisations where not usage_tags)) limit $1))`,
      [tidyRows],
      options,
    )
  }
}

/** Calls of one kind that were refused before they had an entry. */
export interface RefusedCalls {
  organisationId: string
  /** Milliseconds since the epoch of one of them. */
  atMs: number
  model: string
  surface: string
  code: string
  requests: number
}

/** In the order of the keys, so that instances that write at the same time cannot deadlock. */
export async function addRefusals(database: Queryable, refused: readonly RefusedCalls[]): Promise<void> {
  await database.execute(
    `insert into usage_failures (organisation_id, day, model, surface, refused, code, requests)
     select organisation_id, (at at time zone usage_zone_of(organisation_id))::date, model, surface, true, code, sum(requests)
     from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::int8[])
       as r (organisation_id, at, model, surface, code, requests)
     group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
     on conflict (organisation_id, day, model, surface, refused, code)
     do update set requests = usage_failures.requests + excluded.requests`,
    columnsOf(refused, 'organisationId', ({ atMs }) => new Date(atMs), 'model', 'surface', 'code', 'requests'),
    { background: true },
  )
}
