import type { AdminAction } from '../../contract/admin-log.ts'
import type { SingleSignOnTest, StoredSingleSignOn } from '../../contract/single-sign-on.ts'
import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { recordAdminChange, type SealedColumn } from '../operators/index.ts'
import type { Change } from './people.store.ts'

export const singleSignOnSecretsColumn: SealedColumn = {
  kind: 'singleSignOn',
  table: 'single_sign_on',
  id: 'id',
  column: 'secret_sealed',
  contextOf: (id) => `single-sign-on:${id}`,
}

/** `draft`: what operators edit and test. `active`: with what people sign in. */
export type SlotName = 'draft' | 'active'

export interface StoredSlot {
  settings: StoredSingleSignOn
  secretSealed: string
  revision: string
}

export type Slots = Partial<Record<SlotName, StoredSlot>>

export type TestOutcome = Pick<SingleSignOnTest, 'code' | 'detail' | 'rule' | 'person'>

export interface StoredTest {
  revision: string
  startedAt: Date
  expiresAt: Date
  takenAt: Date | null
  outcome: TestOutcome | null
}

/** What a change makes of both slots, and its entry in the admin log; undefined: nothing changes. */
export type SlotsChange = (slots: Slots, transaction: Queryable) => Promise<ChangedSlots | undefined>

interface ChangedSlots {
  slot: SlotName
  /** null removes it. */
  next: StoredSlot | null
  action: AdminAction
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** Single sign-on as operators set it up in the console: the settings, and the last test of each operator. */
export function createSingleSignOnSetupStore(database: OwnedDatabase) {
  return {
    loadSlots: () => loadSlots(database),

    async loadSlot(slot: SlotName): Promise<StoredSlot | undefined> {
      const [row] = await database.query<StoredSlot>(`SELECT ${slotColumns} FROM single_sign_on WHERE id = $1`, [slot])
      return row
    },

    /** One change at a time: the next one sees what this one has written. */
    change: (make: SlotsChange, change: Change): Promise<void> =>
      database.transaction(async (transaction) => {
        // Locks rows that do not exist yet as well.
        await transaction.execute(`LOCK TABLE single_sign_on IN SHARE ROW EXCLUSIVE MODE`)
        const changed = await make(await loadSlots(transaction), transaction)
        if (!changed) return
        await writeSlot(transaction, changed, change.atMs)
        await record(transaction, changed, change)
      }),

    /** Replaces the earlier test of the person. */
    async startTest(given: NewTest): Promise<void> {
      await database.execute(
        `INSERT INTO single_sign_on_tests (person_id, session_id, state_hash, revision, started_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (person_id) DO UPDATE SET session_id = excluded.session_id, state_hash = excluded.state_hash,
           revision = excluded.revision, started_at = excluded.started_at, expires_at = excluded.expires_at,
           taken_at = NULL, outcome = NULL`,
        [given.personId, given.sessionId, given.stateHash, given.revision, given.startedAt, given.expiresAt],
      )
    },

    /** The revision that is tested; undefined if there is no such test of this session, if it was taken or is too old. */
    async takeTest(
      { stateHash, personId, sessionId }: Pick<NewTest, 'stateHash' | 'personId' | 'sessionId'>,
      nowMs: number,
    ): Promise<string | undefined> {
      const [taken] = await database.query<{ revision: string }>(
        `UPDATE single_sign_on_tests SET taken_at = $4
          WHERE state_hash = $1 AND person_id = $2 AND session_id = $3 AND taken_at IS NULL AND expires_at > $4
          RETURNING revision`,
        [stateHash, personId, sessionId, new Date(nowMs)],
      )
      return taken?.revision
    },

    /** The result of the test with this state, and its entry in the admin log. Nothing if the person has begun another one. */
    finishTest: (stateHash: string, outcome: TestOutcome, issuer: string, change: Change): Promise<void> =>
      database.transaction(async (transaction) => {
        const saved = await transaction.execute(
          `UPDATE single_sign_on_tests SET outcome = $2::jsonb, taken_at = coalesce(taken_at, $3) WHERE state_hash = $1`,
          [stateHash, JSON.stringify(outcome), new Date(change.atMs)],
        )
        const after = { issuer, result: outcome.code ?? 'passed' }
        if (saved > 0) await record(transaction, { action: 'single_sign_on.tested', before: null, after }, change)
      }),

    loadTest,

    async removeExpiredTests(olderThanMs: number): Promise<void> {
      await database.execute(`DELETE FROM single_sign_on_tests WHERE started_at < $1`, [new Date(olderThanMs)], {
        background: true,
      })
    },
  }

  async function loadTest(personId: string, queryable: Queryable = database): Promise<StoredTest | undefined> {
    const [test] = await queryable.query<StoredTest>(
      `SELECT revision, started_at AS "startedAt", expires_at AS "expiresAt", taken_at AS "takenAt", outcome
         FROM single_sign_on_tests WHERE person_id = $1`,
      [personId],
    )
    return test
  }
}

interface NewTest {
  personId: string
  sessionId: string
  stateHash: string
  revision: string
  startedAt: Date
  expiresAt: Date
}

const slotColumns = `settings, secret_sealed AS "secretSealed", revision`

async function loadSlots(queryable: Queryable): Promise<Slots> {
  const rows = await queryable.query<StoredSlot & { id: SlotName }>(`SELECT id, ${slotColumns} FROM single_sign_on`)
  return Object.fromEntries(rows.map(({ id, ...slot }) => [id, slot]))
}

async function writeSlot(transaction: Queryable, { slot, next }: ChangedSlots, atMs: number): Promise<void> {
  if (next === null) {
    await transaction.execute(`DELETE FROM single_sign_on WHERE id = $1`, [slot])
    return
  }
  await transaction.execute(
    `INSERT INTO single_sign_on (id, settings, secret_sealed, revision, updated_at) VALUES ($1, $2::jsonb, $3, $4, $5)
     ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, secret_sealed = excluded.secret_sealed,
       revision = excluded.revision, updated_at = excluded.updated_at`,
    [slot, JSON.stringify(next.settings), next.secretSealed, next.revision, new Date(atMs)],
  )
}

/** Whether an operator can sign in while single sign-on is off. */
export async function hasOperatorWithPassword(queryable: Queryable): Promise<boolean> {
  const [found] = await queryable.query(
    `SELECT 1 FROM people p JOIN people_accounts a ON a.person_id = p.id AND a.provider_id = 'credential'
      WHERE p.is_operator LIMIT 1`,
  )
  return found !== undefined
}

function record(
  transaction: Queryable,
  { action, before, after }: Pick<ChangedSlots, 'action' | 'before' | 'after'>,
  { actor, atMs }: Change,
): Promise<void> {
  const subject = { subjectType: 'single_sign_on', subjectId: 'only', organisationId: null }
  return recordAdminChange(transaction, { actor, atMs, action, ...subject, before, after })
}
