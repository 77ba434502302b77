import type { Database, OwnedDatabase, Queryable, SqlValue } from '../database/index.ts'
import { sharedOwner } from '../kernel/index.ts'
import type { JobMove, NewJob } from './port.ts'

/** SQL of the job table. Times that decide when a job is due come from the caller's clock, leases from the database's. */

export interface JobRow {
  id: bigint
  kind: string
  key: string
  payload: Record<string, unknown>
  organisationId: string
  spaceId: string
  /** Times it was taken, this one included. */
  attempt: number
}

/** Position of the round robin of one kind. */
export interface Turn {
  organisationId: string
  spaceId: string
}

export const jobsChannel = 'portico_jobs'
export const cancelledChannel = 'portico_jobs_cancelled'

/** What the next job of a kind is taken by. */
export interface Taking {
  kind: string
  turn: Turn
  spaceTurnOf(organisationId: string): string
  /** Of organisations in the order of their turns. */
  choose(organisationIds: readonly string[]): string | undefined
}

/** Most organisations of which one is chosen; the others come with the next turns. */
const comparedOrganisations = 64

/** Longest time that a job waits, before its first or its next attempt. */
export const longestDelayMs = 60 * 60_000
/** Of the message that is kept of a failed attempt. */
const maximumReasonCharacters = 500
/** The newest jobs that were given up. */
const maximumKeptFailures = 500

const columns = `id, kind, key, payload, organisation_id as "organisationId", space_id as "spaceId", attempt`

export async function insertJob(transaction: Queryable, job: NewJob, nowMs: number): Promise<void> {
  const runAfter = job.runAfter ?? new Date(nowMs)
  const inserted = await transaction.execute(
    `insert into job (kind, key, payload, organisation_id, space_id, state, run_after)
     values ($1, $2, $3::jsonb, $4, $5, $6, $7)
     on conflict (key) where not cancelled do nothing`,
    [
      job.kind,
      job.key,
      JSON.stringify(job.payload),
      job.fairnessKeys?.organisationId ?? '',
      job.fairnessKeys?.spaceId ?? '',
      runAfter.getTime() > nowMs ? 'delayed' : 'ready',
      runAfter,
    ],
  )
  if (inserted > 0) await transaction.query(`select pg_notify($1, $2)`, [jobsChannel, job.kind])
}

export interface QueueDepth {
  kind: string
  state: 'delayed' | 'ready' | 'running'
  count: number
}

/** Jobs of all instances by kind and state; a scan of the live jobs. */
export async function loadQueueDepths(database: Queryable, timeoutMs: number): Promise<QueueDepth[]> {
  const rows = await database.query<{ kind: string; state: QueueDepth['state']; count: string }>(
    `select kind, state, count(*)::text as count from job where not cancelled group by kind, state`,
    [],
    { timeoutMs },
  )
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

/** Removes waiting jobs with the key; a running one is marked, and its worker is notified when the transaction commits. */
export async function cancelJob(transaction: Queryable, key: string): Promise<void> {
  await transaction.execute(`delete from job where key = $1 and state <> 'running'`, [key])
  const marked = await transaction.execute(
    `update job set cancelled = true where key = $1 and state = 'running' and not cancelled`,
    [key],
  )
  if (marked > 0) await transaction.query(`select pg_notify($1, $2)`, [cancelledChannel, key])
}

/** True while a job with the key waits or runs. */
export async function jobExists(queryable: Queryable, key: string): Promise<boolean> {
  return (await queryable.query(`select from job where key = $1 and not cancelled`, [key])).length > 0
}

/** The statements of one instance; `takenBy` names its run. */
export class JobStore {
  private readonly database: Database
  private readonly shared: OwnedDatabase
  private readonly takenBy: string

  constructor(database: Database, takenBy: string) {
    this.database = database
    this.shared = database.for(sharedOwner)
    this.takenBy = takenBy
  }

  /**
   * Takes the next job of a kind, fairly: of the organisations that are next after the turn the chosen one, its next Space, its oldest
   * job.
   */
  async take(
    { kind, turn, spaceTurnOf, choose }: Taking,
    leaseSeconds: number,
  ): Promise<JobRow | { contended: string } | undefined> {
    const organisation = choose(await this.readyOrganisations(kind, turn.organisationId))
    if (organisation === undefined) return undefined
    const [row] = await this.shared.query<JobRow>(
      `update job set state = 'running', attempt = attempt + 1, taken_by = $4,
                      lease_until = clock_timestamp() + make_interval(secs => $5)
       where id = coalesce(
         (select id from job where kind = $1 and state = 'ready' and organisation_id = $2 and space_id > $3
          order by space_id, id limit 1 for update skip locked),
         (select id from job where kind = $1 and state = 'ready' and organisation_id = $2
          order by space_id, id limit 1 for update skip locked))
       returning ${columns}`,
      [kind, organisation, spaceTurnOf(organisation), this.takenBy, leaseSeconds],
    )
    return row ?? { contended: organisation }
  }

  /** Organisations with ready jobs of a kind, those after the given one first. Reads one row of each, however many jobs wait. */
  async readyOrganisations(kind: string, after: string): Promise<string[]> {
    const rows = await this.shared.query<{ id: string }>(
      `with recursive ready(id, place) as (
         (select organisation_id, 1 from job where kind = $1 and state = 'ready' and organisation_id > $2
          order by organisation_id limit 1)
         union all
         select (select organisation_id from job where kind = $1 and state = 'ready' and organisation_id > ready.id
                 order by organisation_id limit 1), place + 1
         from ready where id is not null and place < $3),
       wrapped(id, place) as (
         (select organisation_id, 1 from job where kind = $1 and state = 'ready' and organisation_id <= $2
          order by organisation_id limit 1)
         union all
         select (select organisation_id from job where kind = $1 and state = 'ready' and organisation_id > wrapped.id
                 and organisation_id <= $2 order by organisation_id limit 1), place + 1
         from wrapped where id is not null and place < $3)
       select id from (select id, place, 1 as half from ready union all select id, place, 2 from wrapped) as found
       where id is not null order by half, place limit $3`,
      [kind, after, comparedOrganisations],
    )
    return rows.map(({ id }) => id)
  }

  /** Those of the kinds that have ready jobs: one statement for all kinds, because every instance polls them all the time. */
  async readyKinds(kinds: readonly string[]): Promise<string[]> {
    const rows = await this.shared.query<{ kind: string }>(
      `select kind from unnest($1::text[]) as kind
       where (select true from job where job.kind = kind.kind and state = 'ready' limit 1)`,
      [kinds],
    )
    return rows.map(({ kind }) => kind)
  }

  /**
   * Makes jobs ready whose time has come. A time further ahead than any delay was written by a clock that has been set back since. The
   * later one of both clocks decides that, so that an instance whose clock is behind does not repeat jobs at once.
   */
  promote(now: Date): Promise<number> {
    return this.shared.execute(
      `update job set state = 'ready' where state = 'delayed' and (run_after <= $1::timestamptz
         or run_after > greatest($1::timestamptz, clock_timestamp()) + make_interval(secs => $2))`,
      [now, longestDelayMs / 1_000],
    )
  }

  /** True when the job was still ours; then its row is gone. */
  async remove(id: bigint): Promise<boolean> {
    return (await this.shared.execute(`delete from job where id = $1 and taken_by = $2`, [id, this.takenBy])) > 0
  }

  /** See `Job.othersWait`. Looks at one row on each side of the organisation, however many wait. */
  async othersWait(kind: string, organisationId: string): Promise<boolean> {
    const [row] = await this.database.for(organisationId).query<{ wait: boolean }>(
      `select exists (select from job where kind = $1 and state = 'ready' and organisation_id > $2)
         or exists (select from job where kind = $1 and state = 'ready' and organisation_id < $2) as wait`,
      [kind, organisationId],
    )
    return row!.wait
  }

  /** Makes the job ready again, of this kind and with no attempts; a job that was cancelled meanwhile is deleted. */
  async move(id: bigint, { moveTo: kind, payload = {} }: JobMove): Promise<void> {
    await this.shared.execute(`delete from job where id = $1 and taken_by = $2 and cancelled`, [id, this.takenBy])
    await this.shared.execute(
      `update job set kind = $3, payload = payload || $4::jsonb, state = 'ready', attempt = 0, taken_by = null, lease_until = null
       where id = $1 and taken_by = $2`,
      [id, this.takenBy, kind, JSON.stringify(payload)],
    )
    await this.shared.query(`select pg_notify($1, $2)`, [jobsChannel, kind])
  }

  async delay(id: bigint, runAfter: Date, reason: string): Promise<void> {
    await this.shared.execute(
      `update job set state = 'delayed', run_after = $3, failure = $4, taken_by = null, lease_until = null
       where id = $1 and taken_by = $2 and not cancelled`,
      [id, this.takenBy, runAfter, reason.slice(0, maximumReasonCharacters)],
    )
    // Cancelled while it failed: nothing runs that must be stopped.
    await this.shared.execute(`delete from job where id = $1 and taken_by = $2 and cancelled`, [id, this.takenBy])
  }

  /** Removes a job that is not tried again, and keeps why. */
  async giveUp({ id, kind, organisationId, spaceId, attempt }: JobRow, reason: string, at: Date): Promise<void> {
    await this.shared.transaction(async (transaction) => {
      await transaction.execute(`delete from job where id = $1 and taken_by = $2`, [id, this.takenBy])
      await transaction.execute(
        `insert into job_failures (kind, organisation_id, space_id, attempts, reason, given_up_at)
         values ($1, $2, $3, $4, $5, $6)`,
        [kind, organisationId, spaceId, attempt, reason.slice(0, maximumReasonCharacters), at],
      )
      await transaction.execute(
        `delete from job_failures where id <= (select id from job_failures order by id desc offset $1 limit 1)`,
        [maximumKeptFailures],
      )
    })
  }

  /** Gives back everything this instance holds, as if it had never been taken. */
  async giveBackAll(): Promise<void> {
    await this.shared.execute(`delete from job where taken_by = $1 and cancelled`, [this.takenBy])
    await this.shared.execute(
      `update job set state = 'ready', attempt = attempt - 1, taken_by = null, lease_until = null
       where taken_by = $1 and state = 'running'`,
      [this.takenBy],
    )
    await this.shared.query(`select pg_notify($1, '')`, [jobsChannel])
  }

  /** Those of the given jobs that this instance still holds; their leases are longer now. */
  async renew(running: readonly bigint[], leaseSeconds: number): Promise<Set<bigint>> {
    const rows = await this.shared.query<{ id: bigint }>(
      `update job set lease_until = clock_timestamp() + make_interval(secs => $2)
       where taken_by = $1 and state = 'running' and id = any($3::bigint[]) returning id`,
      [this.takenBy, leaseSeconds, running.map(String)],
    )
    return new Set(rows.map((row) => row.id))
  }

  async cancelledIds(): Promise<bigint[]> {
    const rows = await this.shared.query<{ id: bigint }>(`select id from job where taken_by = $1 and cancelled`, [
      this.takenBy,
    ])
    return rows.map((row) => row.id)
  }

  /** For a sole owner, at its start: makes the jobs of all earlier runs ready. */
  recoverAll(): Promise<number> {
    return this.makeReady('taken_by <> $1', [this.takenBy])
  }

  /**
   * Makes jobs ready whose lease has expired, or ends later than any lease because the clock was set back. Jobs of this instance are among
   * them: while the database is away or its disk is full, the answer to `take` or the end of a job can be lost. `running` are the others.
   */
  recover(running: readonly bigint[], leaseSeconds: number): Promise<number> {
    return this.makeReady(
      `id <> all($1::bigint[]) and (lease_until < clock_timestamp()
         or lease_until > clock_timestamp() + make_interval(secs => $2))`,
      [running.map(String), 2 * leaseSeconds],
    )
  }

  private async makeReady(condition: string, parameters: readonly SqlValue[]): Promise<number> {
    await this.shared.execute(`delete from job where state = 'running' and cancelled and ${condition}`, parameters)
    return this.shared.execute(
      `update job set state = 'ready', taken_by = null, lease_until = null
       where state = 'running' and not cancelled and ${condition}`,
      parameters,
    )
  }
}
