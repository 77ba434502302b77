import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { countingTimeoutMs, tryCountingLock } from './usage-counting.store.ts'
import { isFailed } from './usage-tables.ts'

/** Entries that one transaction removes. Few on the embedded engine, whose one connection is occupied meanwhile. */
const entriesPerRound = { embedded: 200, postgres: 2_000 }
/** Organisations that one transaction looks at. At least two: the last one is looked at again. */
const organisationsPerRound = { embedded: 100, postgres: 500 }

/** Organisations before this one have no entries left to remove. */
export const firstOrganisation = '00000000-0000-0000-0000-000000000000'

export interface RemovalRound {
  removed: number
  /** Where the next round continues; undefined: nothing is left to remove. */
  next: string | undefined
  /** False: another transaction changes sums, here or in another instance. */
  locked: boolean
}

interface StoredRound {
  removed: bigint
  organisations: bigint
  /** The last organisation of which an entry was removed, and the last one that was looked at. */
  reached: string | null
  last: string | null
}

/**
 * Removes some entries of calls that began before `before`, with their tags and endings, of organisations from `from` on. Their sums
 * are kept, in the same transaction. Entries that are not counted yet stay.
 */
export function removeEntries(database: OwnedDatabase, before: Date, from: string): Promise<RemovalRound> {
  const limit = entriesPerRound[database.engine]
  const most = organisationsPerRound[database.engine]
  const remove = async (transaction: Queryable): Promise<RemovalRound> => {
    if (!(await tryCountingLock(transaction))) return { removed: 0, next: from, locked: false }
    // Statistics can be from the time when the tables were small.
    await transaction.query(
      "select set_config('portico.removes_entries', 'on', true), set_config('enable_seqscan', 'off', true)",
    )
    const [round] = await transaction.query<StoredRound>(removal, [from, most, before, limit])
    const { removed, organisations, reached, last } = round!
    if (removed > 0n) {
      await transaction.execute('update ledger_removal set removed_to = $1 where removed_to < $1', [before])
    }
    const next = Number(removed) === limit ? reached! : Number(organisations) === most ? last! : undefined
    return { removed: Number(removed), next, locked: true }
  }
  return database.transaction(remove, { timeoutMs: countingTimeoutMs, background: true })
}

const removedSums = [
  'requests',
  'estimated_requests',
  'failed_requests',
  'completed_requests',
  'prompt_tokens',
  'completion_tokens',
  'billed_pico_usd',
  'written_off_pico_usd',
]

function addedTo(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')
}

/** Steps from one organisation to the next in the index of organisation and start, and reads the oldest entries of each. */
const removal = `
  with recursive organisation (id) as (
    (select organisation_id from ledger_entries where organisation_id >= $1::uuid order by organisation_id limit 1)
    union all
    select (select e.organisation_id from ledger_entries e where e.organisation_id > organisation.id order by e.organisation_id limit 1)
    from organisation where organisation.id is not null
  ), visited as materialized (
    select id from organisation where id is not null limit $2::int8
  ), found as materialized (
    select e.request_id, visited.id from visited cross join lateral (
      select request_id from ledger_entries where organisation_id = visited.id and started_at < $3::timestamptz
      order by started_at limit $4::int8) e
    where exists (select from usage_backfill where finished_at is not null)
      and exists (select from installation_backfill where finished_at is not null)
      and e.request_id not in (select unnest(request_ids) from usage_queue)
    limit $4::int8
  ), gone as (
    delete from ledger_entries where request_id = any(array(select request_id from found)) returning *, ${isFailed} as failed
  ), in_sums as (
    insert into ledger_removed_sums
    select organisation_id, period, model, surface, count(*), count(*) filter (where estimated), count(*) filter (where failed),
      count(*) filter (where ending = 'completed'), sum(prompt_tokens), sum(completion_tokens), sum(billed_pico_usd),
      sum(written_off_pico_usd)
    from gone group by 1, 2, 3, 4
    on conflict (organisation_id, period, model, surface) do update set ${addedTo('ledger_removed_sums', removedSums)}
  ), tags_gone as (
    delete from usage_request_tags where request_id = any(array(select request_id from gone))
    returning organisation_id, tag_id, request_id
  ), in_tags as (
    insert into ledger_removed_tags
    select t.organisation_id, t.tag_id, count(*), sum(billed_pico_usd) from tags_gone t join gone using (request_id) group by 1, 2
    on conflict (organisation_id, tag_id) do update set ${addedTo('ledger_removed_tags', ['requests', 'billed_pico_usd'])}
  ), endings_gone as (
    delete from usage_endings e using gone
    where e.organisation_id = gone.organisation_id and e.ending = gone.ending and e.started_at = gone.started_at
      and e.request_id = gone.request_id and gone.ending <> 'completed'
  )
  select (select count(*) from gone) as removed, (select count(*) from visited) as organisations,
    (select id from found order by id desc limit 1)::text as reached, (select id from visited order by id desc limit 1)::text as last`

/** Entries of calls that began before this time are removed; undefined: none are. */
export async function loadRemovedTo(database: Queryable): Promise<number | undefined> {
  const [row] = await database.query<{ at: Date }>(
    'select removed_to as at from ledger_removal where isfinite(removed_to)',
  )
  return row?.at.getTime()
}
