import { describe, expect, test } from 'vitest'
import { type AllowedRooms, findViolations, readModule } from './dependencies.ts'

/** The violations of a tree of modules. Rooms of the tree that `allowed` leaves out may import nothing. */
function check(tree: Record<string, string>, allowed: AllowedRooms = {}): string[] {
  const rooms = Object.keys(tree).flatMap((file) => /^src\/([a-z]+)\//.exec(file)?.[1] ?? [])
  const table = Object.fromEntries(
    rooms.filter((room) => !['service', 'start'].includes(room)).map((room) => [room, allowed[room] ?? []]),
  )
  return findViolations(
    Object.entries(tree).map(([path, text]) => readModule({ path, text })),
    { ...table, ...allowed },
  )
}

const leaf = 'export const a = 1'

describe('what imports are read', () => {
  test.each([
    ["import { a } from '../models/index.ts'", false],
    ["import '../models/index.ts'", false],
    ["export * from '../models/index.ts'", false],
    ["export { a } from '../models/index.ts'", false],
    ["await import('../models/index.ts')", false],
    ["import { type A } from '../models/index.ts'", false],
    ["import type { A } from '../models/index.ts'", true],
    ["export type { A } from '../models/index.ts'", true],
    ["export type * from '../models/index.ts'", true],
    ["let a: import('../models/index.ts').A<string>", true],
    ["let a: typeof import('../models/index.ts')", true],
  ])('%s', (text, typeOnly) => {
    const [one, ...more] = readModule({ path: 'src/gateway/a.ts', text }).imports
    expect({ one, more }).toEqual({ one: { to: 'src/models/index.ts', typeOnly }, more: [] })
  })
})

describe('a violation of', () => {
  test.each([
    ['kernel', "import 'zod'", 'src/kernel/a.ts imports zod: kernel imports only node: (rule 1)'],
    ['contract', "import 'node:fs'", 'src/contract/a.ts imports node:fs: contract imports only zod (rule 1)'],
  ])('rule 1 by %s', (room, text, violation) => {
    expect(check({ [`src/${room}/a.ts`]: text })).toEqual([violation])
  })

  test('rule 2: a route that imports a store', () => {
    expect(check({ 'src/models/a.routes.ts': "import './a.store.ts'", 'src/models/a.store.ts': leaf })).toEqual([
      'src/models/a.routes.ts imports src/models/a.store.ts: routes never import stores (rule 2)',
    ])
  })

  test('rule 2: fastify or the room http outside of routes', () => {
    const tree = { 'src/models/a.ts': "import 'fastify'; import '../http/index.ts'", 'src/http/index.ts': leaf }
    expect(check(tree, { models: ['http'] })).toEqual([
      'src/models/a.ts imports fastify: only http and routes import fastify (rule 2)',
      'src/models/a.ts imports src/http/index.ts: only routes import http (rule 2)',
    ])
    expect(
      check({ 'src/models/a.routes.ts': tree['src/models/a.ts'], 'src/http/index.ts': leaf }, { models: ['http'] }),
    ).toEqual([])
  })

  test('rule 2: a room that imports what is above the rooms', () => {
    const text = "import '../service.ts'; import '../service/a.ts'"
    expect(check({ 'src/models/a.ts': text, 'src/service.ts': leaf, 'src/service/a.ts': leaf })).toEqual([
      'src/models/a.ts imports src/service.ts: main, first-start, service and config are above the rooms (rule 2)',
      'src/models/a.ts imports src/service/a.ts: main, first-start, service and config are above the rooms (rule 2)',
    ])
  })

  test('rule 3: a rule that imports the database at run time; a type, a store and the job queue may', () => {
    const text = "import '../database/index.ts'"
    const tree = (file: string, content = text) => ({ [file]: content, 'src/database/index.ts': leaf })
    expect(check(tree('src/models/a.ts'), { models: ['database'] })).toEqual([
      'src/models/a.ts imports src/database/index.ts: only stores, jobs and ingestion import the database at run time (rule 3)',
    ])
    expect(
      check(tree('src/models/a.ts', "import type { A } from '../database/index.ts'"), { models: ['database'] }),
    ).toEqual([])
    expect(check(tree('src/models/a.store.ts'), { models: ['database'] })).toEqual([])
    expect(check(tree('src/jobs/a.ts'), { jobs: ['database'] })).toEqual([])
  })

  test('rule 3: the environment is read outside of the configuration', () => {
    const text = 'process.env.HOME'
    expect(check({ 'src/models/a.ts': text, 'src/config.ts': text, 'cli/a.ts': text })).toEqual([
      'src/models/a.ts: reads process.env; only src/config.ts may (rule 3)',
    ])
  })

  test('rule 4: a room that the table does not allow, for types too', () => {
    const tree = { 'src/models/a.ts': "let a: import('../billing/index.ts').A", 'src/billing/index.ts': leaf }
    expect(check(tree)).toEqual([
      'src/models/a.ts imports src/billing/index.ts: models may not import billing (rule 4)',
    ])
    expect(check(tree, { models: ['billing'] })).toEqual([])
  })

  test('rule 4: ingestion within reach of every completion', () => {
    const tree = {
      'src/gateway/complete.ts': "import './b.ts'",
      'src/gateway/b.ts': "import '../ingestion/index.ts'",
      'src/ingestion/index.ts': leaf,
    }
    expect(check(tree, { gateway: ['ingestion'] })).toEqual([
      'src/ingestion/index.ts: src/gateway/complete.ts reaches it through its imports (rule 4)',
    ])
  })

  test('rule 5: a module inside another room, and the command line outside of the contract', () => {
    const tree = {
      'src/models/a.ts': "import '../billing/prices.ts'",
      'src/billing/prices.ts': leaf,
      'cli/a.ts': "import '../src/billing/prices.ts'",
    }
    expect(check(tree, { models: ['billing'] })).toEqual([
      'src/models/a.ts imports src/billing/prices.ts: a room is imported through its index.ts (rule 5)',
      'cli/a.ts imports src/billing/prices.ts: the command line imports contract only (rule 5)',
    ])
  })
})

describe('cycles (rule 5)', () => {
  const tree = (text: string) => ({
    'src/models/index.ts': "import '../billing/index.ts'",
    'src/billing/index.ts': "import '../jobs/index.ts'",
    'src/jobs/index.ts': text,
  })
  const allowed = { models: ['billing'], billing: ['jobs'], jobs: ['models'] }

  test('of rooms over types are reported with a file for each step', () => {
    expect(check(tree("import type { A } from '../models/index.ts'"), allowed)).toEqual([
      'rooms import each other: billing → jobs → models → billing (rule 5), for instance in ' +
        'src/billing/index.ts, src/jobs/index.ts, src/models/index.ts',
    ])
  })

  test('of modules count at run time only', () => {
    const pair = (text: string) => ({ 'src/models/a.ts': text, 'src/models/b.ts': "import './a.ts'" })
    expect(check(pair("import './b.ts'"))).toEqual([
      'modules import each other: src/models/a.ts → src/models/b.ts → src/models/a.ts (rule 5)',
    ])
    expect(check(pair("import type { B } from './b.ts'"))).toEqual([])
  })

  test('each group of rooms gets one message', () => {
    const pair = (a: string, b: string) => ({
      [`src/${a}/index.ts`]: `import '../${b}/index.ts'`,
      [`src/${b}/index.ts`]: `import type { A } from '../${a}/index.ts'`,
    })
    const found = check(
      { ...pair('jobs', 'models'), ...pair('spaces', 'tokens') },
      { jobs: ['models'], models: ['jobs'], spaces: ['tokens'], tokens: ['spaces'] },
    )
    expect(found.map((one) => one.split(' (')[0])).toEqual([
      'rooms import each other: jobs → models → jobs',
      'rooms import each other: spaces → tokens → spaces',
    ])
  })
})

test('the table names no room that does not exist, no import that never happens, and every room', () => {
  const tree = {
    'src/models/a.ts': leaf,
    'src/models/a.test.ts': "import '../billing/index.ts'",
    'src/billing/index.ts': leaf,
  }
  const modules = Object.entries(tree).map(([path, text]) => readModule({ path, text }))
  expect(findViolations(modules, { models: ['billing'], console: ['models'] })).toEqual([
    'the table of allowed rooms lacks the room billing',
    'the table of allowed rooms lets models import billing, which it never does',
    'the table of allowed rooms names the room console, which does not exist',
  ])
})

test('a module of production does not import a fixture', () => {
  expect(
    check({ 'src/models/a.ts': "import './testing/b.ts'", 'src/models/testing/b.ts': "import 'fastify'" }),
  ).toEqual([
    'src/models/a.ts imports src/models/testing/b.ts: only tests, benches and scripts import fixtures (test/README.md)',
  ])
})

test('test files import what they need', () => {
  expect(
    check({
      'src/models/a.test.ts': "import '../billing/prices.ts'",
      'src/billing/prices.ts': leaf,
      'src/models/a.ts': leaf,
    }),
  ).toEqual([])
})
