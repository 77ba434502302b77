import { describe, expect, test } from 'vitest'
import { findRoomsWithoutIndex, findTwins, findViolations, readModule, type Wings } from './dependencies.ts'

/** The violations of a tree of modules. The table has the wings and rooms of the tree; `allowed` and `own` list what they may import. */
function check(
  tree: Record<string, string>,
  allowed: Record<string, string[]> = {},
  own: Record<string, string[]> = {},
): string[] {
  const wings: Wings = {}
  for (const file of Object.keys(tree)) {
    const [, wing, room] = /^src\/([a-z]+)\/(?:([a-z]+)\/)?/.exec(file) ?? []
    if (wing === undefined) continue
    // Composition has no row.
    if (wing === 'app' && room !== 'config') continue
    wings[wing] ??= { imports: allowed[wing] ?? [], rooms: {} }
    if (room !== undefined) wings[wing].rooms[room] = own[room] ?? []
  }
  return findViolations(
    Object.entries(tree).map(([path, text]) => readModule({ path, text })),
    wings,
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
    ['src/platform/kernel/a.ts', "import 'zod'", 'imports zod: kernel imports only node: (rule 1)'],
    ['src/contract/a.ts', "import 'node:fs'", 'imports node:fs: contract imports only zod (rule 1)'],
  ])('rule 1 by %s', (file, text, violation) => {
    expect(check({ [file]: text })).toEqual([`${file} ${violation}`])
  })

  test('rule 2: a route that imports a store', () => {
    const tree = { 'src/gateway/models/a.routes.ts': "import './a.store.ts'", 'src/gateway/models/a.store.ts': leaf }
    expect(check(tree)).toEqual([
      'src/gateway/models/a.routes.ts imports src/gateway/models/a.store.ts: routes never import stores (rule 2)',
    ])
  })

  test('rule 2: fastify or the room http outside of routes', () => {
    const text = "import 'fastify'; import '../../platform/http/index.ts'"
    const http = { 'src/platform/http/index.ts': leaf }
    expect(check({ 'src/gateway/models/a.ts': text, ...http }, { gateway: ['platform'] })).toEqual([
      'src/gateway/models/a.ts imports fastify: only http and routes import fastify (rule 2)',
      'src/gateway/models/a.ts imports src/platform/http/index.ts: only routes import http (rule 2)',
    ])
    expect(check({ 'src/gateway/models/a.routes.ts': text, ...http }, { gateway: ['platform'] })).toEqual([])
  })

  test('rule 2: a room that imports the composition', () => {
    const tree = { 'src/gateway/models/a.ts': "import '../../app/parts/a.ts'", 'src/app/parts/a.ts': leaf }
    expect(check(tree)).toEqual([
      'src/gateway/models/a.ts imports src/app/parts/a.ts: main and the composition in app are above the rooms (rule 2)',
    ])
  })

  test('rule 3: a rule that imports the database at run time; a type, a store and the job queue may', () => {
    const text = "import '../../platform/database/index.ts'"
    const tree = (file: string, content = text) => ({ [file]: content, 'src/platform/database/index.ts': leaf })
    const allowed = { gateway: ['platform'] }
    expect(check(tree('src/gateway/models/a.ts'), allowed)).toEqual([
      'src/gateway/models/a.ts imports src/platform/database/index.ts: ' +
        'only stores, jobs and ingestion import the database at run time (rule 3)',
    ])
    const type = "import type { A } from '../../platform/database/index.ts'"
    expect(check(tree('src/gateway/models/a.ts', type), allowed)).toEqual([])
    expect(check(tree('src/gateway/models/a.store.ts'), allowed)).toEqual([])
    expect(check(tree('src/platform/jobs/a.ts', "import '../database/index.ts'"), {}, { jobs: ['database'] })).toEqual(
      [],
    )
  })

  test('rule 3: the environment is read outside of the configuration', () => {
    const text = 'process.env.HOME'
    expect(check({ 'src/gateway/models/a.ts': text, 'src/app/config/config.ts': text, 'cli/a.ts': text })).toEqual([
      'src/gateway/models/a.ts: reads process.env; only src/app/config/config.ts may (rule 3)',
    ])
  })

  test('rule 6: a context of asynchronous work, other than those of transactions, spans and the sign-in library', () => {
    const text = "import { AsyncLocalStorage } from 'node:async_hooks'"
    const files = ['platform/kernel/a.ts', 'gateway/models/a.ts', 'app/parts/a.ts', 'platform/telemetry/a.ts']
    const tree = Object.fromEntries(files.map((file) => [`src/${file}`, text]))
    const rule = 'what work is for is an argument: docs/decisions/0101-fair-shares-of-what-is-bounded.md (rule 6)'
    expect(check(tree, {}, { telemetry: [] })).toEqual(
      ['platform/kernel/a.ts', 'gateway/models/a.ts', 'app/parts/a.ts'].map(
        (file) => `src/${file} imports node:async_hooks: ${rule}`,
      ),
    )
  })

  test('rule 4: a room or a wing that the table does not allow, for types too', () => {
    const room = {
      'src/gateway/models/a.ts': "let a: import('../billing/index.ts').A",
      'src/gateway/billing/index.ts': leaf,
    }
    expect(check(room)).toEqual([
      'src/gateway/models/a.ts imports src/gateway/billing/index.ts: gateway/models may not import gateway/billing (rule 4)',
    ])
    expect(check(room, {}, { models: ['billing'] })).toEqual([])
    const wing = {
      'src/gateway/models/a.ts': "let a: import('../../tenants/accounts/index.ts').A",
      'src/tenants/accounts/index.ts': leaf,
    }
    expect(check(wing)).toEqual([
      'src/gateway/models/a.ts imports src/tenants/accounts/index.ts: gateway/models may not import tenants/accounts (rule 4)',
    ])
    expect(check(wing, { gateway: ['tenants'] })).toEqual([])
  })

  test('rule 4: ingestion within reach of every completion', () => {
    const tree = {
      'src/gateway/gateway/complete.ts': "import './b.ts'",
      'src/gateway/gateway/b.ts': "import '../../documents/ingestion/index.ts'",
      'src/documents/ingestion/index.ts': leaf,
    }
    expect(check(tree, { gateway: ['documents'] })).toEqual([
      'src/documents/ingestion/index.ts: src/gateway/gateway/complete.ts reaches it through its imports (rule 4)',
    ])
  })

  test('rule 4: documents within reach of a process that has none', () => {
    const tree = {
      'src/app/roles/gateway.ts':
        "import '../../chat/spaces/index.ts'; import type { A } from '../../documents/documents/index.ts'",
      'src/chat/spaces/index.ts': leaf,
      'src/documents/documents/index.ts': leaf,
    }
    expect(check(tree)).toEqual([
      'src/chat/spaces/index.ts: src/app/roles/gateway.ts reaches it through its imports (rule 4)',
    ])
  })

  test('rule 5: a module inside another room, and the command line outside of the contract', () => {
    const tree = {
      'src/gateway/models/a.ts': "import '../billing/prices.ts'",
      'src/gateway/billing/prices.ts': leaf,
      'cli/a.ts': "import '../src/gateway/billing/prices.ts'",
    }
    expect(check(tree, {}, { models: ['billing'] })).toEqual([
      'src/gateway/models/a.ts imports src/gateway/billing/prices.ts: a room is imported through its index.ts (rule 5)',
      'cli/a.ts imports src/gateway/billing/prices.ts: the command line imports contract only (rule 5)',
    ])
  })
})

describe('cycles (rule 5)', () => {
  test('of rooms over types are reported with a file for each step', () => {
    const tree = {
      'src/gateway/models/a.ts': "import '../billing/index.ts'",
      'src/gateway/models/index.ts': leaf,
      'src/gateway/billing/a.ts': "import '../tokens/index.ts'",
      'src/gateway/billing/index.ts': leaf,
      'src/gateway/tokens/a.ts': "import type { A } from '../models/index.ts'",
      'src/gateway/tokens/index.ts': leaf,
    }
    expect(check(tree, {}, { models: ['billing'], billing: ['tokens'], tokens: ['models'] })).toEqual([
      'rooms import each other: gateway/billing → gateway/tokens → gateway/models → gateway/billing (rule 5), for instance in ' +
        'src/gateway/billing/a.ts, src/gateway/tokens/a.ts, src/gateway/models/a.ts',
    ])
  })

  test('of wings are reported, also where their rooms have none', () => {
    const tree = {
      'src/chat/spaces/index.ts': "import '../../gateway/models/index.ts'",
      'src/gateway/models/index.ts': leaf,
      'src/gateway/tokens/index.ts': "import type { A } from '../../chat/insights/index.ts'",
      'src/chat/insights/index.ts': leaf,
    }
    expect(check(tree, { chat: ['gateway'], gateway: ['chat'] })).toEqual([
      'wings import each other: chat → gateway → chat (rule 5), for instance in src/chat/spaces/index.ts, src/gateway/tokens/index.ts',
    ])
  })

  test('of modules count with their types in src', () => {
    const pair = (text: string) => ({ 'src/gateway/models/a.ts': text, 'src/gateway/models/b.ts': "import './a.ts'" })
    expect(check(pair("import './b.ts'"))).toEqual([
      'modules import each other: src/gateway/models/a.ts → src/gateway/models/b.ts → src/gateway/models/a.ts (rule 5)',
    ])
    expect(check(pair("import type { B } from './b.ts'"))).toEqual(check(pair("import './b.ts'")))
    expect(check({ 'web/src/a.tsx': "import './b.tsx'", 'web/src/b.tsx': "import './a.tsx'" })).toEqual([])
  })

  test('each group of rooms gets one message', () => {
    const pair = (wing: string, a: string, b: string) => ({
      [`src/${wing}/${a}/a.ts`]: `import '../${b}/index.ts'`,
      [`src/${wing}/${a}/index.ts`]: leaf,
      [`src/${wing}/${b}/a.ts`]: `import type { A } from '../${a}/index.ts'`,
      [`src/${wing}/${b}/index.ts`]: leaf,
    })
    const found = check(
      { ...pair('gateway', 'models', 'tokens'), ...pair('chat', 'insights', 'spaces') },
      {},
      { models: ['tokens'], tokens: ['models'], insights: ['spaces'], spaces: ['insights'] },
    )
    expect(found.map((one) => one.split(' (')[0])).toEqual([
      'rooms import each other: chat/insights → chat/spaces → chat/insights',
      'rooms import each other: gateway/models → gateway/tokens → gateway/models',
    ])
  })
})

test('the table names nothing that does not exist, no import that never happens, and every wing and room', () => {
  const tree = {
    'src/gateway/models/a.ts': leaf,
    'src/gateway/models/a.test.ts': "import '../billing/index.ts'",
    'src/gateway/billing/index.ts': leaf,
    'src/chat/spaces/index.ts': leaf,
  }
  const modules = Object.entries(tree).map(([path, text]) => readModule({ path, text }))
  const wings = {
    gateway: { imports: ['contract'], rooms: { models: ['billing'], routing: [] } },
    console: { imports: [], rooms: {} },
  }
  expect(findViolations(modules, wings)).toEqual([
    'the table of wings lacks the wing chat',
    'the table of wings lacks the room gateway/billing',
    'the table of wings lacks the room chat/spaces',
    'the table of wings lets gateway import contract, which it never does',
    'the table of wings lets gateway/models import gateway/billing, which it never does',
    'the table of wings names gateway/routing, which does not exist',
    'the table of wings names console, which does not exist',
  ])
})

test('a module of production does not import a fixture', () => {
  const tree = {
    'src/gateway/models/a.ts': "import './testing/b.ts'",
    'src/gateway/models/testing/b.ts': "import 'fastify'",
  }
  expect(check(tree)).toEqual([
    'src/gateway/models/a.ts imports src/gateway/models/testing/b.ts: ' +
      'only tests, benches and scripts import fixtures (test/README.md)',
  ])
})

test('test files import what they need', () => {
  expect(
    check({
      'src/gateway/models/a.test.ts': "import '../billing/prices.ts'",
      'src/gateway/billing/prices.ts': leaf,
      'src/gateway/models/a.ts': leaf,
    }),
  ).toEqual([])
})

test('a room without index.ts, and a file next to a folder of its name', () => {
  const wings = { gateway: { imports: [], rooms: { models: [], tokens: [] } } }
  const paths = ['src/gateway/models/index.ts', 'src/gateway/models/views.ts', 'src/gateway/models/views/data.json']
  expect(findRoomsWithoutIndex(paths, wings)).toEqual(['src/gateway/tokens has no index.ts (rule 5)'])
  expect(findTwins(paths)).toEqual(['src/gateway/models/views.ts is next to a folder of the same name (rule 5)'])
})
