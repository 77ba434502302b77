import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../../test/harness/fake-clock.ts'
import {
  type DatabasePlace,
  freshDatabasePlace,
  testServerUrl,
  withoutPooler,
} from '../../../../test/harness/database.ts'
import { startFaultProxy } from '../../../../test/harness/ledger-crash/fault-proxy.ts'
import { type Log, silentLog, systemClock } from '../../kernel/index.ts'
import { type OpenedDatabases, openDatabases } from '../../../../test/harness/statements.ts'
import { createChangeFeed, recordChange } from '../index.ts'
import { isOlder } from '../features.ts'

test('versions are compared number by number', () => {
  expect(isOlder('0.8.3', [0, 8, 4])).toBe(true)
  expect(isOlder('0.8.4', [0, 8, 4])).toBe(false)
  expect(isOlder('0.10.0', [0, 8, 4])).toBe(false)
  expect(isOlder('0.8', [0, 8, 4])).toBe(true)
})

test('an unreachable server prevents the start with an error that names the database but not the password', async () => {
  const databaseUrl = 'postgres://someone:hidden-word@127.0.0.1:1/nothing'
  const failure = await openDatabases({
    dataFolder: '/nowhere',
    databaseUrl,
    clock: systemClock,
    log: silentLog,
  }).catch((error: unknown) => String(error))
  expect(failure).toMatch(
    /^DatabaseStartError: could not connect to the server of the control database: .*ECONNREFUSED/,
  )
  expect(failure).not.toContain('hidden-word')
})

describe.skipIf(testServerUrl() === undefined)('on a PostgreSQL server (PORTICO_TEST_DATABASE_URL)', () => {
  let place: DatabasePlace
  let one: OpenedDatabases
  let two: OpenedDatabases

  beforeEach(async () => {
    place = await freshDatabasePlace()
    one = await open()
    two = await open()
  })
  afterEach(async () => {
    await one.close()
    await two.close()
    await place.remove()
  })

  const open = (limits = {}, at = place) => openDatabases({ ...at, limits, clock: systemClock, log: silentLog })

  test('a statement ends at the limit of requests, of background work or of locks, or at its specific limit', async () => {
    const bounded = await open({ statementTimeoutMs: 300, backgroundStatementTimeoutMs: 900, lockTimeoutMs: 200 })
    const { control } = bounded
    const sleep = (seconds: number, options = {}) => control.query(`select pg_sleep(${seconds})`, [], options)
    await expect(sleep(20)).rejects.toMatchObject({ code: '57014', isUnavailable: true })
    await sleep(0.5, { background: true })
    await expect(sleep(20, { background: true })).rejects.toMatchObject({ code: '57014' })
    await sleep(1, { timeoutMs: 5_000 })
    await sleep(0.5, { background: true })
    await expect(sleep(0.5)).rejects.toMatchObject({ code: '57014' })
    await control.execute('create table locked (id int)')
    await one.control.transaction(async (transaction) => {
      await transaction.execute('lock table locked in access exclusive mode')
      await expect(control.query('select from locked')).rejects.toMatchObject({ code: '55P03', isUnavailable: true })
    })
    await bounded.close()
  })

  test('a prepared statement is planned once for a connection, and follows changes of its table', async () => {
    const { control, ...databases } = await open({ maximumConnections: 1 }, withoutPooler(place))
    const prepared = { prepared: true }
    const read = () => control.query('select id, note from kept where id = $1', [1], prepared)
    // Not there yet: a statement that fails to be prepared can be prepared later.
    await expect(read()).rejects.toMatchObject({ code: '42P01' })
    await control.execute('create table kept (id int, note text)')
    await control.execute(`insert into kept values (1, 'first')`)
    for (let round = 0; round < 8; round++) expect(await read()).toEqual([{ id: 1, note: 'first' }])
    const known = `select from pg_prepared_statements where statement like 'select id, note from kept%'`
    expect(await control.query(known)).toHaveLength(1)
    await control.execute('alter table kept add column more int')
    await control.execute('create index on kept (id)')
    expect(await read()).toEqual([{ id: 1, note: 'first' }])
    await control.execute('drop table kept')
    await control.execute('create table kept (id int, note text)')
    expect(await read()).toEqual([])
    await databases.close()
  })

  test('a statement that gets no connection in time is rejected as one that may succeed later', async () => {
    const bounded = await open({ maximumConnections: 1, connectionWaitMs: 1_000 })
    await bounded.control.query('select 1')
    const held = Promise.withResolvers<void>()
    const holding = bounded.control.transaction(() => held.promise)
    await expect(bounded.control.query('select 1')).rejects.toMatchObject({
      code: '53300',
      isUnavailable: true,
      isUnsent: true,
      message: 'no database connection became free within 1000 ms',
    })
    held.resolve()
    await holding
    expect(await bounded.control.query('select 1 as one')).toEqual([{ one: 1 }])
    await bounded.close()
  })

  test('control and corpus have separate schemas', async () => {
    expect(await one.control.query('select current_schema()::text as name')).toEqual([{ name: 'portico_control' }])
    expect(await one.corpus.query('select current_schema()::text as name')).toEqual([{ name: 'portico_corpus' }])
  })

  test('an aborted signal ends the statement on the server, and its connection can be used again', async () => {
    const gone = new AbortController()
    const slow = one.control.query('select pg_sleep(20)', [], { signal: gone.signal })
    await untilActive(true)
    gone.abort(new Error('the client left'))
    await expect(slow).rejects.toThrow('the client left')
    await untilActive(false)
    const answers = await Promise.all(Array.from({ length: 20 }, () => one.control.query('select 1 as one')))
    expect(answers.flat()).toHaveLength(20)
  })

  async function untilActive(expected: boolean): Promise<void> {
    for (;;) {
      const rows = await two.control.query(
        `select from pg_stat_activity where datname = current_database() and state = 'active' and query like 'select pg_sleep(20)%'`,
      )
      if (rows.length > 0 === expected) return
      await systemClock.sleep(5)
    }
  }

  test('deadlocked transactions are retried and both commit', async () => {
    await one.control.execute('create table pair (id int primary key, hits int)')
    await one.control.execute('insert into pair values (1, 0), (2, 0)')
    let arrived = 0
    const bothHold = Promise.withResolvers<void>()
    const cross = (databases: OpenedDatabases, first: number, second: number) =>
      databases.control.transaction(async (transaction) => {
        await transaction.execute('update pair set hits = hits + 1 where id = $1', [first])
        if (++arrived === 2) bothHold.resolve()
        await bothHold.promise
        await transaction.execute('update pair set hits = hits + 1 where id = $1', [second])
      })
    await Promise.all([cross(one, 1, 2), cross(two, 2, 1)])
    expect(await one.control.query('select sum(hits)::int as hits from pair')).toEqual([{ hits: 4 }])
  })

  test('a lost notification connection is replaced, onReconnect is called, and notifications arrive', async () => {
    const heard = Promise.withResolvers<string>()
    const reconnected = Promise.withResolvers<void>()
    await one.control.listen('lost', heard.resolve)
    one.control.onReconnect(reconnected.resolve)
    await killListeners()
    await reconnected.promise
    await two.control.query(`select pg_notify('lost', 'heard again')`)
    expect(await heard.promise).toBe('heard again')
  })

  test('a change reaches another instance within a second although its notification connection was just killed', async () => {
    const clock = createFakeClock()
    const feed = createChangeFeed({ database: one.control, clock, log: silentLog })
    const heard = Promise.withResolvers<string[] | 'all'>()
    feed.subscribe('key', async (ids) => {
      if (ids !== 'all') heard.resolve(ids)
    })
    await feed.start()
    await killListeners()
    await two.control.transaction((transaction) => recordChange(transaction, 'key', 'revoked'))
    await clock.advance(999)
    expect(await heard.promise).toEqual(['revoked'])
    await feed.close()
  })

  async function killListeners(): Promise<void> {
    const killed = await two.control.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`,
    )
    expect(killed.length).toBeGreaterThan(0)
  }

  test('connections that the server kills are replaced', async () => {
    const died = one.control.query('select pg_terminate_backend(pg_backend_pid())')
    await expect(died).rejects.toMatchObject({ code: '57P01', isUnsent: false })
    expect(await one.control.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  test('a server that stops to answer while a connection is prepared fails the statement, not only the next one', async () => {
    const direct = withoutPooler(place)
    const proxy = await startFaultProxy(direct.databaseUrl!)
    const behind = await open({}, { ...direct, databaseUrl: proxy.url })
    const ask = () => behind.control.query('select 1 as one')
    proxy.cut()
    await expect.poll(() => ask().catch(() => [])).toEqual([{ one: 1 }])
    proxy.ignore('pg_backend_pid')
    // The first one has the only connection.
    const [slow, second] = await Promise.allSettled([behind.control.query(`select pg_sleep(0.1)`), ask()])
    expect(slow.status).toBe('fulfilled')
    expect(second).toMatchObject({ reason: { code: '08006', isUnavailable: true, isUnsent: true } })
    proxy.resume()
    expect(await ask()).toEqual([{ one: 1 }])
    await behind.close()
    await proxy.close()
  })

  test('a server that does not answer at first delays the start', async () => {
    const direct = withoutPooler(place)
    const proxy = await startFaultProxy(direct.databaseUrl!)
    proxy.hang()
    const log: Log = { ...silentLog, warn: () => proxy.resume() }
    const late = await openDatabases({ ...direct, databaseUrl: proxy.url, clock: systemClock, log })
    expect(await late.control.query('select 1 as one')).toEqual([{ one: 1 }])
    await late.close()
    await proxy.close()
  })

  test('a connection whose server has become read-only is not used again', async () => {
    const bounded = await open({ maximumConnections: 1 }, withoutPooler(place))
    await bounded.control.execute('create table kept (id int)')
    // As in the session of a server that was the primary.
    await bounded.control.execute('set default_transaction_read_only = on')
    const write = () => bounded.control.execute('insert into kept values (1)')
    await expect(write()).rejects.toMatchObject({ code: '25006', isUnavailable: true })
    expect(await write()).toBe(1)
    await bounded.close()
  })

  describe('a server that looks like a standby', () => {
    const direct = () => withoutPooler(place)
    const becomesStandby = (is: boolean) =>
      one.control.execute(
        `create or replace function portico_control.pg_is_in_recovery() returns boolean language sql as 'select ${is}'`,
      )

    beforeEach(async () => {
      await becomesStandby(false)
      const [row] = await one.control.query<{ name: string }>('select current_database() as name')
      // New connections find this function before that of the system.
      await one.control.execute(`alter database ${row!.name} set search_path = portico_control, pg_catalog`)
    })

    test('runs no statement; the next connection to the primary does', async () => {
      const opened = await open({ maximumConnections: 2 }, direct())
      const ask = () => opened.control.query('select 1 as one')
      const held = Promise.withResolvers<void>()
      // It has the only connection that is open.
      const holding = opened.control.transaction(() => held.promise)
      await becomesStandby(true)
      await expect(ask()).rejects.toMatchObject({ code: '25006', isUnavailable: true, isUnsent: true })
      await becomesStandby(false)
      expect(await ask()).toEqual([{ one: 1 }])
      held.resolve()
      await holding
      await opened.close()
    })

    test('delays a start until it is the primary', async () => {
      await becomesStandby(true)
      const waits = Promise.withResolvers<void>()
      const log = { ...silentLog, warn: () => waits.resolve() }
      const opening = openDatabases({ ...direct(), clock: systemClock, log })
      await waits.promise
      await becomesStandby(false)
      const opened = await opening
      expect(await opened.control.query('select 1 as one')).toEqual([{ one: 1 }])
      await opened.close()
    })
  })

  test('a connection lost between two statements of a transaction fails only that transaction', async () => {
    await one.control.execute('create table kept (id int)')
    const cut = one.control.transaction(async (transaction) => {
      const [row] = await transaction.query<{ pid: number }>('select pg_backend_pid() as pid')
      await transaction.execute('insert into kept values (1)')
      // No statement runs on the connection at this moment: the loss arrives as an event.
      await two.control.query('select pg_terminate_backend($1)', [row!.pid])
      await untilGone(row!.pid)
      await transaction.execute('insert into kept values (2)')
    })
    await expect(cut).rejects.toMatchObject({ name: 'DatabaseError', isUnavailable: true })
    expect(await one.control.query('select id from kept')).toEqual([])
  })

  async function untilGone(pid: number): Promise<void> {
    while ((await two.control.query('select from pg_stat_activity where pid = $1', [pid])).length > 0) {
      await systemClock.sleep(5)
    }
  }
})
