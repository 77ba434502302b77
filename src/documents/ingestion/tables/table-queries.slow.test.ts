import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../../platform/kernel/index.ts'
import { buildDocx } from '../testing/build-documents.ts'
import { createTableQueries, type TableFile, type TableQueries } from './table-queries.ts'

let folder: string
let tables: TableQueries

const sales = `Region,Sold on,"Revenue (USD)",Units,Share,Note,
North,31/01/2024,"$1,234.50",12,10%,first,x
South,28/02/2024,"$2,000.00",7,"12.5%",,y
North,15/03/2024,n/a,0,–,"a ""quoted"" cell",
`

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'portico-tables-'))
  mkdirSync(path.join(folder, 'blobs'))
  tables = open()
})
afterAll(async () => {
  await tables.close()
  rmSync(folder, { recursive: true })
})

function open(limits: Parameters<typeof createTableQueries>[0]['limits'] = {}, place = 'blobs'): TableQueries {
  return createTableQueries({
    blobs: {
      localFolders: [path.join(folder, place)],
      withFile: (key, _signal, use) => use(path.join(folder, place, key)),
    },
    log: silentLog,
    limits,
  })
}

function store(name: string, content: string | Buffer, format: TableFile['format'] = 'csv'): TableFile {
  writeFileSync(path.join(folder, 'blobs', name), content)
  return {
    key: name,
    name,
    format,
    sizeBytes: Buffer.byteLength(content),
    declaredEncoding: undefined,
    readsEmbedded: true,
    blobKey: name,
  }
}

const request = (...files: TableFile[]) => ({
  organisationId: 'organisation',
  spaceId: 'space',
  files,
  signal: AbortSignal.timeout(60_000),
})
const rowsOf = async (file: TableFile, sql: string, on = tables) => {
  const result = await on.query({ ...request(file), sql })
  if ('problem' in result) throw new Error(result.problem)
  return result.rows
}

describe('a csv file in SQL', () => {
  test('is read through a link to its folder', async () => {
    symlinkSync(path.join(folder, 'blobs'), path.join(folder, 'linked'))
    const linked = open({}, 'linked')
    expect(await rowsOf(store('linked.csv', sales), 'select count(*) from t1', linked)).toEqual([[3]])
    await linked.close()
  })

  test('has typed columns, unique names, every cell, and numbers and dates next to their text', async () => {
    const file = store('sales.csv', sales)
    const described = await tables.describe({ ...request(file), words: [], maximumRowBytes: 10_000 })
    expect('tables' in described && described.tables[0]!.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'row_number INTEGER',
      'Region TEXT',
      'Sold_on TEXT',
      'Sold_on_text TEXT',
      'Revenue_USD REAL',
      'Revenue_USD_text TEXT',
      'Units INTEGER',
      'Share REAL',
      'Share_text TEXT',
      'Note TEXT',
      'column_7 TEXT',
    ])
    expect(await rowsOf(file, 'select * from t1')).toEqual([
      [1, 'North', '2024-01-31', '31/01/2024', 1234.5, '$1,234.50', 12, 10, '10%', 'first', 'x'],
      [2, 'South', '2024-02-28', '28/02/2024', 2000, '$2,000.00', 7, 12.5, '12.5%', null, 'y'],
      [3, 'North', '2024-03-15', '15/03/2024', null, 'n/a', 0, null, '–', 'a "quoted" cell', null],
    ])
    expect(await rowsOf(file, 'select Region, sum(Revenue_USD) from t1 group by 1 order by 1')).toEqual([
      ['North', 1234.5],
      ['South', 2000],
    ])
  })

  test('joins with the tables of another document', async () => {
    const result = await tables.query({
      ...request(store('sales.csv', sales), store('heads.csv', 'Region,Head\nNorth,Ann\nSouth,Bob\n')),
      sql: 'select Head, count(*) from t1 join t2 using (Region) group by 1 order by 1',
    })
    expect(result).toEqual({
      columns: ['Head', 'count(*)'],
      rows: [
        ['Ann', 2],
        ['Bob', 1],
      ],
      isCut: false,
    })
  })

  test('shows the rows with the words of a question where not all fit', async () => {
    const text = `Name,City\n${Array.from({ length: 500 }, (_, index) => `Person ${index},City ${index}`).join('\n')}\n`
    const words = ['who', 'lives', 'in', 'city', '321']
    const described = await tables.describe({ ...request(store('people.csv', text)), words, maximumRowBytes: 200 })
    expect('tables' in described && described.tables[0]!.rows).toContainEqual([322, 'Person 321', 'City 321'])
  })
})

test('tables of a docx file can be queried', async () => {
  const cell = (text: string) => `<w:tc><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`
  const row = (...cells: string[]) => `<w:tr>${cells.map(cell).join('')}</w:tr>`
  const body = `<w:p><w:r><w:t>Prices of tickets</w:t></w:r></w:p><w:tbl>${row('Ticket', 'Price')}${row('Adult', '12')}${row('Child', '5')}</w:tbl><w:p><w:r><w:t>Other</w:t></w:r></w:p><w:tbl>${row('Day', 'Hours')}${row('Monday', '8')}</w:tbl>`
  const file = store('museum.docx', buildDocx(body), 'docx')
  expect(await rowsOf(file, 'select sum(Price) from t1')).toEqual([[17]])
  expect(await rowsOf(file, 'select Day, Hours from t2')).toEqual([['Monday', 8]])
})

describe('a statement', () => {
  const goods = `Item,Price,Stock,Code,Vegan,Added
Soap,"$1,330.00",12,A1,yes,31/01/2024
Tea,$980.00,few,B2,no,05/02/2024
Cup,$8.50,7,C3,no,06/02/2024
Jar,$24.90,many,D4,yes,07/02/2024
`
  test.each([
    ['select sum(Price), max(Price), avg(Stock_number) from t1', [[2343.4, 1330, 9.5]]],
    ['select Item from t1 order by Price desc limit 1', [['Soap']]],
    ["select Item from t1 where Price_text = '$8.50'", [['Cup']]],
    ['select count(*) from t1 where Vegan and Price > 500', [[1]]],
    ["select count(*) from t1 where Added >= '2024-02-05' and Item <> 'Cup'", [[2]]],
    ["select Price * 2 as double_price from t1 where Item like 'T%'", [[1960]]],
    ["select sum(cast(replace(Price_text, '$', '') as real)) from t1 where Item = 'Cup'", [[8.5]]],
    ["select t.Item || ' ' || t.Code from t1 as t where t.Stock = 7", [['Cup C3']]],
    ['select sum(Price) over (order by row_number rows 1 preceding) from t1', [[1330], [2310], [988.5], [33.4]]],
  ])('calculates with typed columns: %s', async (sql, expected) => {
    expect(await rowsOf(store('goods.csv', goods), sql)).toEqual(expected)
  })

  test.each([
    ['select sum(Price_text) from t1', 'Price_text is text'],
    ['select sum(x) from (select Code as x from t1)', 'no number'],
    ['select Code * 2 from t1', 'Code is text'],
    ['select -(t1.Code) from t1', 'Code is text'],
    ['select cast(Price_text as real) from t1', 'counts other characters as 0'],
    ['select max(Stock) from t1', 'Use Stock_number'],
    ['select Item from t1 order by Stock', 'Use Stock_number'],
    ['select Item from t1 where Stock > 5', 'Use Stock_number'],
    ["select Item from t1 where Price = '$8.50'", 'use Price_text'],
    ["select Item from t1 where Price in (980, '$8.50')", 'use Price_text'],
    ["select Item from t1 where '$8.50' = t1.Price", 'use Price_text'],
    ["select Item from t1 where Vegan = 'yes'", 'use Vegan_text'],
    ["select Item from t1 where Added = '31/01/2024'", 'YYYY-MM-DD'],
    ['select Added - 1 from t1', 'julianday'],
  ])('that would be wrong without an error is refused: %s', async (sql, message) => {
    const result = await tables.query({ ...request(store('goods.csv', goods)), sql })
    expect('problem' in result && result.problem).toContain(
      message.replace('Price_text is text', 'sum() of Price_text'),
    )
  })

  test.each([
    'insert into t1 values (1)',
    'select 1; drop table t1',
    "select 1 -- '\n; select 2",
    'drop table t1',
    "attach '/etc/passwd' as p",
    'pragma table_info(t1)',
    "vacuum into '/tmp/copy.db'",
    "select * from pragma_table_info('t1')",
    'select * from pragma_database_list',
    'select * from sqlite_schema',
    'select * from dbstat',
    "select load_extension('x')",
    "select readfile('/etc/passwd')",
    "select writefile('/tmp/x', 'y')",
    "select fts3_tokenizer('simple')",
    "select * from json_each('[1]')",
    "select edit('x')",
    'explain select 1',
    'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c',
    'select zeroblob(1000000000)',
    `select ${'('.repeat(2_000)}1${')'.repeat(2_000)}`,
    `select '${'x'.repeat(100_000)}'`,
    'select nothing from t1',
    'select \0 from t1',
    '',
  ])('that does more than read the tables is refused: %s', async (sql) => {
    const file = store('sales.csv', sales)
    expect(await tables.query({ ...request(file), sql })).toEqual({ problem: expect.any(String) })
    expect(await rowsOf(file, 'select count(*) from t1')).toEqual([[3]])
  })

  test('that multiplies tables is stopped at its time limit, and the next one runs', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => `${index},${index % 7}`).join('\n')
    const file = store('large.csv', `a,b\n${rows}\n`)
    const short = open({ statementMs: 300 })
    try {
      const sql = 'select count(*) from t1 x, t1 y, t1 z, t1 w where x.b + y.b + z.b + w.b = -1'
      expect(await short.query({ ...request(file), sql })).toEqual({ problem: expect.stringContaining('0.3 seconds') })
      expect(await rowsOf(file, 'select count(*) from t1', short)).toEqual([[2000]])
    } finally {
      await short.close()
    }
    expect(short.processIds()).toEqual([])
  })

  test('that needs too much memory is stopped, and the next one runs', async () => {
    const file = store('sales.csv', sales)
    const text = "printf('%.*c', 3000000, 'x')"
    const sql = `select group_concat(v) from (select ${text} v ${`union all select ${text} `.repeat(15)})`
    expect(await tables.query({ ...request(file), sql })).toEqual({ problem: expect.any(String) })
    expect(await rowsOf(file, 'select count(*) from t1')).toEqual([[3]])
  })

  test('gives at most 200 rows and reports that there are more', async () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => index).join('\n')
    const result = await tables.query({
      ...request(store('numbers.csv', `n,\n${rows}\n`)),
      sql: 'select row_number from t1',
    })
    expect(result).toMatchObject({ isCut: true })
    expect('rows' in result && result.rows).toHaveLength(200)
  })
})

test('a process serves one Space, ends when it is idle, and ends with the signal of its request', async () => {
  const file = store('sales.csv', sales)
  const short = open({ idleMs: 50 })
  try {
    await rowsOf(file, 'select 1', short)
    const [first] = short.processIds()
    await short.query({ ...request(file), spaceId: 'another space', sql: 'select 1' })
    expect(short.processIds().filter((id) => id !== first)).toHaveLength(1)
    await expect.poll(() => short.processIds(), { timeout: 20_000 }).toEqual([])
    const caller = new AbortController()
    const gone = short.query({ ...request(file), signal: caller.signal, sql: 'select 1' })
    caller.abort(new Error('the client is gone'))
    await expect(gone).rejects.toThrow('the client is gone')
  } finally {
    await short.close()
  }
})

test('a file that is too large or cannot be read is a problem for the model, not an error', async () => {
  const small = open({ fileBytes: 10 })
  expect(await small.query({ ...request(store('sales.csv', sales)), sql: 'select 1' })).toEqual({
    problem: expect.stringContaining('too large'),
  })
  await small.close()
  expect(await tables.query({ ...request(store('empty.csv', '')), sql: 'select 1' })).toEqual({
    problem: expect.stringContaining('cannot be read'),
  })
})

describe('one organisation whose statements take long', () => {
  const slow = 'select count(*) from t1 x, t1 y, t1 z, t1 w where x.b + y.b + z.b + w.b = -1'
  const numbers = Array.from({ length: 2_000 }, (_, index) => `${index},${index % 7}`).join('\n')

  test('leaves a process to another organisation, however many of its statements wait', async () => {
    const file = store('numbers.csv', `a,b\n${numbers}\n`)
    const short = open({ statementMs: 1_500 })
    const ended: string[] = []
    const ask = async (organisationId: string, sql: string) => {
      await short.query({ ...request(file), organisationId, spaceId: `of ${organisationId}`, sql })
      ended.push(organisationId)
    }
    try {
      const flood = Promise.all(Array.from({ length: 3 }, () => ask('flood', slow)))
      for (let round = 0; round < 3; round++) await ask('other', 'select count(*) from t1')
      expect(ended.filter((one) => one === 'flood').length).toBeLessThan(2)
      await flood
    } finally {
      await short.close()
    }
  })

  test('does not end the process of another organisation while it has one to end', async () => {
    const file = store('sales.csv', sales)
    const idle = open()
    const ask = (organisationId: string, spaceId: string) =>
      idle.query({ ...request(file), organisationId, spaceId, sql: 'select 1' })
    try {
      await ask('other', 'kept')
      const [kept] = idle.processIds()
      for (const spaceId of ['first', 'second', 'third']) await ask('flood', spaceId)
      expect(idle.processIds()).toContain(kept)
    } finally {
      await idle.close()
    }
  })

  test('gets an error when too many of its statements wait, and no other organisation does', async () => {
    const file = store('numbers.csv', `a,b\n${numbers}\n`)
    const short = open()
    const left = new AbortController()
    const ask = (organisationId: string, sql: string, signal = AbortSignal.timeout(60_000)) =>
      short.query({ ...request(file), organisationId, spaceId: organisationId, sql, signal })
    try {
      // One runs, and half of those that may wait.
      const flood = Promise.allSettled(Array.from({ length: 33 }, () => ask('flood', slow, left.signal)))
      await expect(ask('flood', slow)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
      expect(await ask('other', 'select count(*) from t1')).toMatchObject({ rows: [[2000]] })
      left.abort(new Error('the clients are gone'))
      await flood
    } finally {
      await short.close()
    }
  })
})
