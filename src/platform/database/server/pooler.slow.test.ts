import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type DatabasePlace,
  freshDatabasePlace,
  testServerUrl,
  withoutPooler,
} from '../../../../test/harness/database.ts'
import { hasPgBouncer, type Pooler, startPgBouncer } from '../../../../test/harness/pgbouncer.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { assertOwnSession } from './pooler.ts'
import { type OpenedDatabases, openDatabases } from '../../../../test/harness/statements.ts'

const isPossible = testServerUrl() !== undefined && hasPgBouncer

describe.skipIf(!isPossible)(
  isPossible ? 'behind PgBouncer' : 'behind PgBouncer (skipped: needs PORTICO_TEST_DATABASE_URL and pgbouncer)',
  () => {
    let place: DatabasePlace
    let server: string
    const poolers: Pooler[] = []
    const opened: OpenedDatabases[] = []

    beforeEach(async () => {
      place = await freshDatabasePlace()
      server = withoutPooler(place).databaseUrl!
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((databases) => databases.close()))
      await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()))
      await place.remove()
    })

    async function startPooler(mode: 'session' | 'transaction' | 'statement'): Promise<string> {
      const pooler = await startPgBouncer(server, mode)
      poolers.push(pooler)
      return pooler.through(server)
    }

    async function open(databaseUrl: string, databaseDirectUrl?: string): Promise<OpenedDatabases> {
      const { dataFolder } = place
      const databases = await openDatabases({
        dataFolder,
        databaseUrl,
        databaseDirectUrl,
        clock: systemClock,
        log: silentLog,
      })
      opened.push(databases)
      return databases
    }

    const refusalOf = (opening: Promise<unknown>) => opening.then(() => 'it started', String)

    for (const mode of ['transaction', 'statement'] as const) {
      test(`in ${mode} mode without a direct URL the start fails with the reason and the remedy`, async () => {
        expect(await refusalOf(open(await startPooler(mode)))).toMatch(
          /^DatabaseStartError: .*connection pooler in transaction mode.*set DATABASE_DIRECT_URL/,
        )
      })
    }

    test('a connection that is answered only after the probes have ended shares the pool with them', async () => {
      const watcher = new pg.Client({ connectionString: server })
      await watcher.connect()
      const probing = async () =>
        (
          await watcher.query(
            `select from pg_stat_activity where state like 'idle in tr%' and datname = current_database()`,
          )
        ).rowCount
      let queries = 0
      const query = async () => {
        queries += 1
        if (queries > 1) while (await probing()) await delay(20)
        return { rows: [{ pid: queries }] }
      }
      const client = { processID: 0, query } as unknown as pg.Client
      await expect(assertOwnSession(client, server, 'control')).rejects.toThrow(/pooler in transaction mode/)
      await watcher.end()
    })

    test('in statement mode with a direct URL the start fails as well', async () => {
      expect(await refusalOf(open(await startPooler('statement'), server))).toMatch(
        /^DatabaseStartError: .*pooler in statement mode.*set pool_mode = transaction/,
      )
    })

    test('a direct URL of another database prevents the start', async () => {
      const other = await freshDatabasePlace()
      const otherUrl = withoutPooler(other).databaseUrl!
      expect(await refusalOf(open(await startPooler('transaction'), otherUrl))).toMatch(
        /^DatabaseStartError: .*DATABASE_DIRECT_URL.*lead to different databases/,
      )
      await other.remove()
    })

    test('a direct URL that leads to a pooler in transaction mode prevents the start', async () => {
      const url = await startPooler('transaction')
      expect(await refusalOf(open(url, url))).toMatch(/connection pooler in transaction mode/)
    })

    describe.each([
      ['session mode', async () => open(await startPooler('session'))],
      ['transaction mode', async () => open(await startPooler('transaction'), server)],
    ])('%s', (_, openPooled) => {
      test('finds the tables of each database on every connection, and hears notifications', async () => {
        const databases = await openPooled()
        const heard = Promise.withResolvers<string>()
        await databases.control.listen('here', heard.resolve)
        await databases.control.transaction((transaction) => transaction.query(`select pg_notify('here', 'heard')`))
        expect(await heard.promise).toBe('heard')
        const nameOf = `select current_schema()::text as name, current_setting('timezone') as zone`
        const settings = await Promise.all(
          Array.from({ length: 40 }, (_, index) => {
            const database = index % 2 === 0 ? databases.control : databases.corpus
            return index % 4 < 2
              ? database.query(nameOf)
              : database.transaction((transaction) => transaction.query(nameOf, []))
          }),
        )
        expect(settings.flat()).toEqual(
          settings.map((_, index) => ({ name: `portico_${index % 2 === 0 ? 'control' : 'corpus'}`, zone: 'UTC' })),
        )
      })

      test('a transaction can choose its isolation level', async () => {
        const { control } = await openPooled()
        const rows = await control.transaction(async (transaction) => {
          await transaction.execute('set transaction isolation level repeatable read')
          return transaction.query('show transaction_isolation')
        })
        expect(rows).toEqual([{ transaction_isolation: 'repeatable read' }])
      })

      test('returns rows of each kind of statement', async () => {
        const { control } = await openPooled()
        await control.execute('create table kinds (id int, at timestamptz, bytes bytea)')
        const at = new Date('2026-01-02T03:04:05Z')
        expect(
          await control.execute('insert into kinds values ($1, $2, $3), (2, null, null)', [1, at, Buffer.from('x')]),
        ).toBe(2)
        expect(await control.query('select * from kinds where id = $1', [1])).toEqual([
          { id: 1, at, bytes: new Uint8Array([120]) },
        ])
        expect(await control.query('select id from kinds where id > $1', [5])).toEqual([])
        await expect(control.query('select 1 / $1::int as none', [0])).rejects.toMatchObject({ code: '22012' })
        await expect(control.query('select no_such_column from kinds')).rejects.toMatchObject({ code: '42703' })
        expect(await control.query('select count(*)::int as rows from kinds')).toEqual([{ rows: 2 }])
      })

      test('makes settings of a statement for that statement alone', async () => {
        const read = `select current_setting('lock_timeout') as value`
        const { corpus } = await openPooled()
        expect(await corpus.query(read, [], { settings: { lock_timeout: '4321ms' } })).toEqual([{ value: '4321ms' }])
        const after = await Promise.all(Array.from({ length: 20 }, () => corpus.query(read)))
        expect(after.flat()).toEqual(Array.from({ length: 20 }, () => ({ value: '10s' })))
      })

      test('runs statements that may be prepared on any connection', async () => {
        const { corpus } = await openPooled()
        const run = (value: number) => corpus.query('select $1::int as value', [value], { prepared: true })
        for (let round = 0; round < 3; round++) {
          const rows = await Promise.all(Array.from({ length: 20 }, (_, value) => run(value)))
          expect(rows.flat()).toEqual(Array.from({ length: 20 }, (_, value) => ({ value })))
        }
      })

      test('ends a statement at its limit, alone and in a transaction', async () => {
        const { control } = await openPooled()
        const slow = (on: Pick<OpenedDatabases['control'], 'query'>) =>
          on.query('select pg_sleep(20)', [], { timeoutMs: 100 })
        await expect(slow(control)).rejects.toMatchObject({ code: '57014' })
        await expect(control.transaction(slow)).rejects.toMatchObject({ code: '57014' })
        // The limit does not stay on the connection.
        await Promise.all(Array.from({ length: 20 }, () => control.query('select pg_sleep(0.2)')))
      })

      test('cancels the statement of a caller that leaves, and no other', async () => {
        const databases = await openPooled()
        const others = Array.from({ length: 8 }, () => databases.control.query('select pg_sleep(1)'))
        const gone = new AbortController()
        const left = databases.control.query('select pg_sleep(600)', [], { signal: gone.signal, timeoutMs: 600_000 })
        left.catch(() => {})
        const active = `select from pg_stat_activity where state = 'active' and query like 'select pg_sleep(600)%'`
        const running = async () => (await databases.corpus.query(active)).length
        await expect.poll(running, { timeout: 30_000 }).toBe(1)
        gone.abort(new Error('the client left'))
        await expect(left).rejects.toThrow('the client left')
        await expect.poll(running, { timeout: 30_000 }).toBe(0)
        await Promise.all(others)
        await databases.control.query('select 1')
        await databases.close()
      })

      test('builds an index concurrently', async () => {
        const { corpus } = await openPooled()
        await corpus.execute('create table indexed (id int)')
        await corpus.execute('create index concurrently indexed_id on indexed (id)', [], { direct: true })
        const rows = await corpus.query(`select indisvalid from pg_index where indexrelid = 'indexed_id'::regclass`)
        expect(rows).toEqual([{ indisvalid: true }])
      })
    })

    test('no connection of the server keeps a setting of Portico', async () => {
      const { control, corpus } = await open(await startPooler('transaction'), server)
      await Promise.all(Array.from({ length: 10 }, () => control.query('select pg_sleep(0.05)')))
      await corpus.transaction((transaction) => transaction.query('select 1'), { timeoutMs: 5_000 })
      const foreign = new pg.Client(poolers[0]!.through(server))
      await foreign.connect()
      const { rows } = await foreign.query(
        `select current_setting('search_path') as path, current_setting('statement_timeout') as timeout`,
      )
      await foreign.end()
      expect(rows).toEqual([{ path: '"$user", public', timeout: '0' }])
    })
  },
)
