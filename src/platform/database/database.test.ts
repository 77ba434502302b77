import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createDatabase } from './create-database.ts'
import { DatabaseError, encodeHalfVector, encodeVector, isForeignKeyViolation } from './index.ts'
import type { SessionSource } from './session.ts'

let databases: TestDatabases

beforeAll(async () => {
  databases = await openTestDatabases()
  await databases.control.execute('create table account (id text primary key, balance bigint not null)')
  await databases.control.execute(
    'create table entry (id bigint generated always as identity primary key, note text not null)',
  )
  await databases.control.execute('create table transfer (account_id text references account)')
})

afterAll(() => databases.drop())

test('the statements of one organisation delay that of another by a turn, however many wait', async () => {
  const finished: string[] = []
  const ask = (owner: string) =>
    databases.control
      .for(owner)
      .query('select pg_sleep(0.001)')
      .then(() => finished.push(owner))
  await Promise.all([...Array.from({ length: 200 }, () => ask('flood')), ask('small')])
  expect(finished).toHaveLength(201)
  expect(finished.indexOf('small')).toBeLessThan(100)
})

test('a database has no statements before it has an owner', () => {
  const { name, engine, features } = databases.control
  const database = createDatabase({ name, engine, features, source: {} as SessionSource })
  // @ts-expect-error: a statement without an owner does not compile.
  expect(database.query).toBeUndefined()
  expect(database).not.toHaveProperty('execute')
  expect(database).not.toHaveProperty('transaction')
  expect(database.for('organisation').query).toBeTypeOf('function')
})

describe('values', () => {
  test('have the documented types on either engine', async () => {
    const when = new Date('1969-07-20T20:17:40.123Z')
    const rows = await databases.corpus.query(
      `select $1::int8 as int8, $2::numeric as "numeric", $3::timestamptz as "timestamptz", $4::bytea as "bytea",
              $5::bool as "bool", $6::jsonb as "jsonb", $7::uuid as "uuid", $8::text as "text", $9::int4 as "int4",
              $10::float8 as "float8", null::text as nothing, 3::int2 as "int2", $11::json as "json"`,
      [
        9_223_372_036_854_775_807n,
        '12345678901234567890.123456789',
        when,
        new Uint8Array([0, 1, 254, 255]),
        false,
        JSON.stringify({ deep: ['ü', null, 1.5] }),
        '0e2f1a3c-0000-4000-8000-00000000000f',
        'a\n"\\\u{1f600}',
        -7,
        0.1,
        '[1]',
      ],
    )
    expect(rows).toEqual([
      {
        int8: 9_223_372_036_854_775_807n,
        numeric: '12345678901234567890.123456789',
        timestamptz: when,
        bytea: new Uint8Array([0, 1, 254, 255]),
        bool: false,
        jsonb: { deep: ['ü', null, 1.5] },
        uuid: '0e2f1a3c-0000-4000-8000-00000000000f',
        text: 'a\n"\\\u{1f600}',
        int4: -7,
        float8: 0.1,
        nothing: null,
        int2: 3,
        json: [1],
      },
    ])
  })

  test('arrays are passed and returned as arrays of the same types', async () => {
    const when = new Date('2026-02-28T23:59:59.999Z')
    const [row] = await databases.control.query(
      `select $1::int8[] as int8, $2::text[] as "text", $3::timestamptz[] as "when", $4::bytea[] as "bytea",
              $5::bool[] as "bool", $6::numeric[] as "numeric", $7::int4[] as empty, $8::uuid[] as "uuid"`,
      [
        [1n, null, -2n],
        ['a,b', '{"x"}', 'back\\slash', '', null, 'NULL'],
        [when],
        [new Uint8Array([1, 2]), new Uint8Array()],
        [true, false],
        ['1.10'],
        [],
        ['0e2f1a3c-0000-4000-8000-00000000000f'],
      ],
    )
    expect(row).toEqual({
      int8: [1n, null, -2n],
      text: ['a,b', '{"x"}', 'back\\slash', '', null, 'NULL'],
      when: [when],
      bytea: [new Uint8Array([1, 2]), new Uint8Array()],
      bool: [true, false],
      numeric: ['1.10'],
      empty: [],
      uuid: ['0e2f1a3c-0000-4000-8000-00000000000f'],
    })
  })

  test('many rows are inserted with one statement through unnest', async () => {
    const count = await databases.control.execute(`insert into account select * from unnest($1::text[], $2::int8[])`, [
      ['u1', 'u2', 'u3'],
      [1n, 2n, 3n],
    ])
    expect(count).toBe(3)
  })

  test('binary vectors equal the vectors that pgvector parses from text', async () => {
    const [row] = await databases.corpus.query<{ full: string; half: string; distance: number }>(
      `select $1::vector as "full", $2::halfvec as half, $1::vector <=> '[1,0,0]' as distance`,
      [encodeVector([1, -2.5, 0.125]), encodeHalfVector([1, -2.5, 65504])],
    )
    expect(row).toMatchObject({ full: '[1,-2.5,0.125]', half: '[1,-2.5,65504]' })
    expect(row!.distance).toBeCloseTo(1 - 1 / Math.hypot(1, 2.5, 0.125), 6)
  })

  test('an undefined parameter is rejected and named', async () => {
    const parameters = ['a', undefined] as unknown as string[]
    await expect(databases.control.query('select $1::text, $2::text', parameters)).rejects.toThrow('$2 is undefined')
  })
})

describe('settings of a statement', () => {
  const read = `select current_setting('lock_timeout') as value, $1::int as one`

  test('apply to that statement alone', async () => {
    const [before] = await databases.corpus.query<{ value: string }>(read, [1])
    expect(before!.value).not.toBe('4321ms')
    const settings = { lock_timeout: '4321ms', jit: 'off' }
    expect(await databases.corpus.query(read, [1], { settings })).toEqual([{ value: '4321ms', one: 1 }])
    const after = await Promise.all(Array.from({ length: 30 }, () => databases.corpus.query(read, [1])))
    expect(after.flat()).toEqual(Array.from({ length: 30 }, () => before))
  })

  test('last until the end of a transaction', async () => {
    const inside = await databases.corpus.transaction(async (transaction) => {
      await transaction.query('select 1', [], { settings: { lock_timeout: '4321ms' } })
      return transaction.query(read, [1])
    })
    expect(inside).toEqual([{ value: '4321ms', one: 1 }])
    const [after] = await databases.corpus.query<{ value: string }>(read, [1])
    expect(after!.value).not.toBe('4321ms')
  })

  test('an unknown one fails the statement, and the next one runs', async () => {
    const failed = databases.corpus.query(read, [1], { settings: { no_such_setting: '1' } })
    await expect(failed).rejects.toMatchObject({ name: 'DatabaseError', code: '42704' })
    const broken = databases.corpus.query('select 1 / $1::int', [0], { settings: { lock_timeout: '4321ms' } })
    await expect(broken).rejects.toMatchObject({ name: 'DatabaseError', code: '22012' })
    const [after] = await databases.corpus.query<{ value: string }>(read, [1])
    expect(after!.value).not.toBe('4321ms')
  })
})

describe('errors', () => {
  test('carry their SQLSTATE and a short text', async () => {
    const error = await databases.control.query('select * from no_such_table').catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(DatabaseError)
    expect(error).toMatchObject({ code: '42P01', message: 'relation "no_such_table" does not exist' })
  })

  test('a foreign key violation is distinguished from other errors', async () => {
    const failure = (statement: string) => databases.control.execute(statement).catch((caught: unknown) => caught)
    expect(isForeignKeyViolation(await failure(`insert into transfer values ('missing')`))).toBe(true)
    expect(isForeignKeyViolation(await failure('insert into account values (null, 0)'))).toBe(false)
  })

  test('two statements in one text are rejected', async () => {
    await expect(databases.control.query('select 1; drop table account')).rejects.toMatchObject({ code: '42601' })
  })

  test('a statement past its deadline ends with 57014, and the next one runs', async () => {
    const slow = databases.control.query('select pg_sleep(20)', [], { timeoutMs: 200 })
    const next = databases.control.query('select 1 as one')
    await expect(slow).rejects.toMatchObject({ code: '57014' })
    expect(await next).toEqual([{ one: 1 }])
  })

  test('an aborted signal ends the wait with its reason, and the database stays usable', async () => {
    const gone = new AbortController()
    const slow = databases.control.query('select pg_sleep(0.3)', [], { signal: gone.signal })
    gone.abort(new Error('the client left'))
    await expect(slow).rejects.toThrow('the client left')
    expect(await databases.control.query('select 2 as two')).toEqual([{ two: 2 }])
  })
})

describe('transactions', () => {
  test('a transaction that rejects is rolled back', async () => {
    const failed = databases.control.transaction(async (transaction) => {
      await transaction.execute(`insert into entry (note) values ('rolled back')`)
      throw new Error('changed my mind')
    })
    await expect(failed).rejects.toThrow('changed my mind')
    expect(await databases.control.query(`select from entry where note = 'rolled back'`)).toEqual([])
  })

  test('a transaction that ignored the error of a statement rejects', async () => {
    const failed = databases.control.transaction(async (transaction) => {
      await transaction.execute(`insert into entry (note) values ('swallowed')`)
      await transaction.query('select 1/0').catch(() => {})
    })
    await expect(failed).rejects.toMatchObject({ code: '25P02' })
    expect(await databases.control.query(`select from entry where note = 'swallowed'`)).toEqual([])
  })

  test('parallel statements of a failed transaction do not run after its rollback', async () => {
    const failed = databases.control.transaction((transaction) =>
      Promise.all([
        transaction.query('select 1/0'),
        transaction.execute(`insert into entry (note) values ('after the end')`),
        transaction.execute(`insert into entry (note) values ('after the end')`),
      ]),
    )
    await expect(failed).rejects.toMatchObject({ code: '22012' })
    expect(await databases.control.query(`select from entry where note = 'after the end'`)).toEqual([])
  })

  test('transactions that read and write the same row lose no update', async () => {
    await databases.control.execute(`insert into account values ('counter', 0)`)
    await Promise.all(
      Array.from({ length: 30 }, () =>
        databases.control.transaction(async (transaction) => {
          const [row] = await transaction.query<{ balance: bigint }>(
            `select balance from account where id = 'counter' for update`,
          )
          await transaction.execute(`update account set balance = $1 where id = 'counter'`, [row!.balance + 1n])
        }),
      ),
    )
    expect(await databases.control.query(`select balance from account where id = 'counter'`)).toEqual([
      { balance: 30n },
    ])
  })

  test('a statement that bypasses its open transaction is rejected instead of waiting for itself', async () => {
    const mistaken = databases.control.transaction(() => databases.control.query('select 1'))
    await expect(mistaken).rejects.toThrow('was sent to the database instead of the transaction')
  })

  test('a serialization failure is retried, up to the limit', async () => {
    let attempts = 0
    const value = await databases.control.transaction(async (transaction) => {
      attempts++
      if (attempts < 3) await transaction.query(`do $$ begin raise sqlstate '40001'; end $$`)
      return attempts
    })
    expect(value).toBe(3)
  })
})

describe('notifications', () => {
  test('reach listeners of this process when the transaction commits, not when it rolls back', async () => {
    const heard: string[] = []
    const arrived = Promise.withResolvers<void>()
    const stop = await databases.control.listen('test_channel', (payload) => {
      heard.push(payload)
      if (payload === 'committed') arrived.resolve()
    })
    await databases.control
      .transaction(async (transaction) => {
        await transaction.query(`select pg_notify('test_channel', 'rolled back')`)
        throw new Error('no')
      })
      .catch(() => {})
    await databases.control.transaction(async (transaction) => {
      await transaction.query(`select pg_notify('test_channel', 'committed')`)
    })
    await arrived.promise
    await stop()
    expect(heard).toEqual(['committed'])
  })
})
