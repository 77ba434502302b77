import type { Queryable } from '../database/index.ts'

/** The queue of all instances, as an operator looks at it. Lists are short; counts scan the live jobs. */

interface KindState {
  kind: string
  ready: number
  delayed: number
  running: number
  /** Not running, and failed at least once. */
  retrying: number
  oldestWaitingAt: Date | null
}

interface FailingJob {
  kind: string
  organisationId: string
  attempt: number
  nextAttemptAt: Date
  reason: string | null
}

interface GivenUpJob {
  kind: string
  organisationId: string
  attempts: number
  reason: string
  at: Date
}

interface CountRow extends Omit<KindState, 'kind'> {
  kind: string | null
  organisationId: string | null
  place: bigint
}

const listLength = 20
const topOrganisations = 10

export async function loadQueueState(database: Queryable, timeoutMs: number) {
  const options = { timeoutMs }
  // One scan for both: rows with a kind, and the organisations with most waiting jobs.
  const counts = await database.query<CountRow>(
    `select * from (
       select kind, organisation_id as "organisationId", (count(*) filter (where state = 'ready'))::int4 as ready,
         (count(*) filter (where state = 'delayed'))::int4 as delayed,
         (count(*) filter (where state = 'running'))::int4 as running,
         (count(*) filter (where state <> 'running' and attempt > 0))::int4 as retrying,
         min(created_at) filter (where state <> 'running') as "oldestWaitingAt",
         row_number() over (partition by kind is null
           order by count(*) filter (where state <> 'running') desc, kind, organisation_id) as place
       from job where not cancelled group by grouping sets ((kind), (organisation_id))
     ) counted
     where kind is not null or (place <= ${topOrganisations} and ready + delayed > 0 and "organisationId" <> '')
     order by kind, place`,
    [],
    options,
  )
  const kinds = counts.flatMap((row): KindState[] => {
    const { kind, organisationId: _, place: __, ...state } = row
    return kind === null ? [] : [{ kind, ...state }]
  })
  const organisations = counts.flatMap(({ kind, organisationId, ready, delayed }) =>
    kind === null && organisationId !== null ? [{ organisationId, waiting: ready + delayed }] : [],
  )
  const failing = await database.query<FailingJob>(
    `select kind, organisation_id as "organisationId", attempt, run_after as "nextAttemptAt", failure as reason
     from job where state = 'delayed' and attempt > 0 and not cancelled order by attempt desc, id limit ${listLength}`,
    [],
    options,
  )
  const givenUp = await database.query<GivenUpJob>(
    `select kind, organisation_id as "organisationId", attempts, reason, given_up_at as at
     from job_failures order by id desc limit ${listLength}`,
    [],
    options,
  )
  return { kinds, organisations, failing, givenUp }
}
