import type { Database } from '../database/index.ts'
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
 * The places of waiting jobs by key, in the order in which the queue takes them: organisations in turns, within one its Spaces in turns. A scan of
 * the waiting jobs of their kinds.
 */
export async function loadQueuePlaces(
  database: Database,
  owner: string,
  keys: readonly string[],
): Promise<Map<string, QueuePlace>> {
  if (keys.length === 0) return new Map()
  const rows = await database
    .for(owner)
    .query<{ key: string; place: number; runMs: number | null; places: number | null }>(
      `with of_space as (
         select id, key, kind, organisation_id, space_id,
           row_number() over (partition by kind, organisation_id, space_id order by id) as turn
         from job where state = 'ready' and kind in (select kind from job where key = any($1::text[]) and state = 'ready')),
       of_organisation as (
         select *, row_number() over (partition by kind, organisation_id order by turn, space_id) as position from of_space),
       placed as (
         select key, kind, row_number() over (partition by kind order by position, organisation_id)::int as place from of_organisation)
       select p.key, p.place, j.run_ms as "runMs", j.places from placed p left join job_pace j on j.kind = p.kind
       where p.key = any($1::text[])`,
      [[...keys]],
    )
  return new Map(
    rows.map(({ key, place, runMs, places }) => [
      key,
      { place, estimatedMs: runMs === null || !places ? null : Math.ceil(place / places) * runMs },
    ]),
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
