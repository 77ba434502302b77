import type { Queryable } from '../../platform/database/index.ts'

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
    [
      refused.map(({ organisationId }) => organisationId),
      refused.map(({ atMs }) => new Date(atMs)),
      refused.map(({ model }) => model),
      refused.map(({ surface }) => surface),
      refused.map(({ code }) => code),
      refused.map(({ requests }) => BigInt(requests)),
    ],
    { background: true },
  )
}
