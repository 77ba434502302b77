import type { Database, OwnedDatabase } from '../database/index.ts'
import { sharedOwner } from '../kernel/index.ts'

/** Where a waiting job is in the queue of its kind. */
export interface QueuePlace {
  /** 1: next. */
  place: number
  /** Until it begins; null if no job of its kind has run yet. */
  estimatedMs: number | null
}

/** Weight of the newest run in the mean. */
const newestShare = 0.2

/**
 * Index entries that are read to place the jobs of one Space and kind. A job so far behind that more would be needed has no place: it
 * would change faster than it is read.
 */
const maximumEntries = 4_000

/**
 * The places of waiting jobs by key, in the order in which the queue takes them: organisations in turns, within one its Spaces in turns. Jobs
 * behind more than `entries` allow are left out.
 */
export async function loadQueuePlaces(
  database: Database,
  owner: string,
  keys: readonly string[],
  entries = maximumEntries,
): Promise<Map<string, QueuePlace>> {
  if (keys.length === 0) return new Map()
  const own = database.for(owner)
  const spaces = await own.query<WaitingSpace>(
    `select j.kind, j.organisation_id as "organisationId", j.space_id as "spaceId", array_agg(j.id::text) as ids,
       array_agg(j.key) as keys, p.run_ms as "runMs", p.places
     from job j left join job_pace p on p.kind = j.kind where j.key = any($1::text[]) and j.state = 'ready'
     group by j.kind, j.organisation_id, j.space_id, p.run_ms, p.places`,
    [[...keys]],
  )
  const found = new Map<string, QueuePlace>()
  for (const space of spaces) {
    const { runMs, places, ids } = space
    for (const { id, place } of await loadPlacesInSpace(own, space, entries)) {
      const estimatedMs = runMs === null || !places ? null : Math.ceil(place / places) * runMs
      found.set(space.keys[ids.indexOf(id)]!, { place, estimatedMs })
    }
  }
  return found
}

/** Waiting jobs of one Space and kind, with the pace of the kind. */
interface WaitingSpace {
  kind: string
  organisationId: string
  spaceId: string
  ids: string[]
  keys: string[]
  runMs: number | null
  places: number | null
}

/**
 * Before the n-th job of a Space come n jobs of each Space that precedes it and n - 1 of each other, or all that those have; the same holds for
 * organisations. So each of them is counted up to n, and n is at most the entries divided by their number.
 */
function loadPlacesInSpace(own: OwnedDatabase, { kind, organisationId, spaceId, ids }: WaitingSpace, entries: number) {
  const ready = `from job where kind = $1 and state = 'ready'`
  const readyOfOwn = `${ready} and organisation_id = $2`
  return own.query<{ id: string; place: number }>(
    `with recursive
     organisations (id, n) as (
       (select organisation_id, 1 ${ready} order by organisation_id limit 1)
       union all
       select (select organisation_id ${ready} and organisation_id > o.id order by organisation_id limit 1), n + 1
       from organisations o where id is not null and n < $5),
     spaces (id, n) as (
       (select space_id, 1 ${readyOfOwn} order by space_id limit 1)
       union all
       select (select space_id ${readyOfOwn} and space_id > s.id order by space_id limit 1), n + 1
       from spaces s where id is not null and n < $5),
     depths as (select $5::int / greatest(1, (select count(*) from organisations)) as organisations,
       $5::int / greatest(1, (select count(*) from spaces)) as spaces),
     turns as (
       select id, row_number() over (order by id) as turn from (
         select id ${readyOfOwn} and space_id = $3 order by id limit (select spaces from depths)) first),
     wanted as (select * from turns where id = any($4::bigint[])),
     in_spaces as materialized (
       select s.id, count from spaces s cross join lateral (select count(*) from (
         select ${readyOfOwn} and space_id = s.id limit (select coalesce(max(turn), 0) from wanted)) entry) counted),
     positions as (
       select id, (select sum(least(count, case when s.id <= $3 then turn else turn - 1 end)) from in_spaces s) as position from wanted),
     reached as (select * from positions where position <= (select organisations from depths)),
     in_organisations as materialized (
       select o.id, count from organisations o cross join lateral (select count(*) from (
         select ${ready} and organisation_id = o.id limit (select coalesce(max(position), 0) from reached)) entry) counted)
     select id::text, (select sum(least(count, case when o.id <= $2 then position else position - 1 end))
       from in_organisations o)::int as place from reached`,
    [kind, organisationId, spaceId, ids, entries],
  )
}

/** Adds the run of a job to the mean of its kind. */
export async function noteRun(database: Database, kind: string, runMs: number, places: number): Promise<void> {
  await database.for(sharedOwner).execute(
    `insert into job_pace (kind, run_ms, places) values ($1, $2, $3)
     on conflict (kind) do update set run_ms = job_pace.run_ms * (1 - $4::float8) + excluded.run_ms * $4::float8,
       places = excluded.places, measured_at = clock_timestamp()`,
    [kind, runMs, places, newestShare],
  )
}
