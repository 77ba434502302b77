import path from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { findCycles } from './cycles.ts'
import type { SourceFile } from './source-files.ts'

export interface Import {
  /** A path relative to the root, or a package name. */
  to: string
  /** True when the import is gone at run time. */
  typeOnly: boolean
}

export interface Module {
  path: string
  imports: Import[]
  readsEnvironment: boolean
}

/** One wing of src/. */
export interface Wing {
  /** The wings that all of its rooms may import; the kernel always. */
  imports: string[]
  /** The rooms of this wing that each of its rooms may import. Empty: the wing has no rooms. */
  rooms: Record<string, string[]>
}

export type Wings = Record<string, Wing>

const kernel = 'platform/kernel'

export function readModule(file: SourceFile): Module {
  return {
    path: file.path,
    imports: readImports(file),
    readsEnvironment: /\bprocess\.env\b/.test(file.text),
  }
}

/** Every broken rule of ARCHITECTURE.md ("Rules that a check enforces"), each as one line. Tests and fixtures import what they need. */
export function findViolations(modules: readonly Module[], wings: Wings): string[] {
  const production = modules.filter((module) => !isTest(module.path))
  return [
    ...production.flatMap((module) => module.imports.flatMap((one) => checkImport(module.path, one, wings))),
    ...production.flatMap(checkEnvironment),
    ...checkTable(production, wings),
    ...checkCycles(production, 'wings', wingOf),
    ...checkCycles(production, 'rooms', roomOf),
    ...checkModuleCycles(production),
    ...checkReach(production),
  ]
}

function readImports({ path: from, text }: SourceFile): Import[] {
  const { module, program } = parseSync(from, text)
  const found: Import[] = []
  const add = (specifier: string, typeOnly: boolean) => {
    // The console's alias: web/vite.config.ts.
    const named = specifier.replace(/^@contract\//, 'src/contract/')
    const to = named.startsWith('.') ? path.posix.join(path.posix.dirname(from), named) : named
    found.push({ to, typeOnly })
  }
  for (const { start, moduleRequest } of module.staticImports) {
    // `import { type A } from` is kept as an empty import when Node strips types; only `import type` goes.
    add(moduleRequest.value, /^import\s+type\b(?!\s+from\b)/.test(text.slice(start)))
  }
  for (const { start, entries } of module.staticExports) {
    const typeOnly = /^export\s+type\b/.test(text.slice(start))
    for (const { moduleRequest } of entries.slice(0, 1)) if (moduleRequest) add(moduleRequest.value, typeOnly)
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const literal = text.slice(moduleRequest.start, moduleRequest.end)
    if (/^['"]/.test(literal)) add(literal.slice(1, -1), false)
  }
  new Visitor({ TSImportType: ({ source }) => add(source.value, true) }).visit(program)
  return found
}

function checkImport(from: string, { to, typeOnly }: Import, wings: Wings): string[] {
  const broken = (rule: string) => [`${from} imports ${to}: ${rule}`]
  const room = roomOf(from)
  const target = roomOf(to)
  if (to === 'node:async_hooks' && from.startsWith('src/') && !mayKeepContext(from))
    return broken('what work is for is an argument: docs/decisions/0101-fair-shares-of-what-is-bounded.md (rule 6)')
  if (isTest(to)) return broken('only tests, benches and scripts import fixtures (test/README.md)')
  if (room === kernel && target !== kernel && !to.startsWith('node:'))
    return broken('kernel imports only node: (rule 1)')
  if (room === 'contract' && target !== 'contract' && to !== 'zod') return broken('contract imports only zod (rule 1)')
  if (from.startsWith('cli/') && to.startsWith('src/') && target !== 'contract')
    return broken('the command line imports contract only (rule 5)')
  if (from.startsWith('web/')) {
    return to.startsWith('src/') && !(target === 'contract' && typeOnly)
      ? broken('the console imports types of contract only (rule 5)')
      : []
  }
  if (!/^(?:src|cli|web)\//.test(to) && !to.endsWith('package.json')) {
    const isFastify = /^(@fastify\/swagger|fastify)/.test(to)
    return isFastify && room !== 'platform/http' && !isRoutes(from)
      ? broken('only http and routes import fastify (rule 2)')
      : []
  }
  if (isComposition(from) || from.startsWith('cli/') || room === 'app/config') return []
  if (target === undefined || isComposition(to))
    return broken('main and the composition in app are above the rooms (rule 2)')
  if (room === target || target === kernel) {
    return isRoutes(from) && to.endsWith('.store.ts') ? broken('routes never import stores (rule 2)') : []
  }
  if (!mayImport(room, target, wings)) return broken(`${room} may not import ${target} (rule 4)`)
  if (to !== `src/${target}/index.ts` && target !== 'contract')
    return broken('a room is imported through its index.ts (rule 5)')
  return [
    ...(target === 'platform/database' && !typeOnly && !mayUseDatabase(from)
      ? broken('only stores, jobs and ingestion import the database at run time (rule 3)')
      : []),
    ...(target === 'platform/http' && !isRoutes(from) ? broken('only routes import http (rule 2)') : []),
  ]
}

function mayImport(room: string | undefined, target: string, wings: Wings): boolean {
  const [wing = '', name = ''] = room?.split('/') ?? []
  const [targetWing = '', targetName = ''] = target.split('/')
  const row = wings[wing]
  return wing === targetWing
    ? row?.rooms[name]?.includes(targetName) === true
    : row?.imports.includes(targetWing) === true
}

/** The transaction that code is inside of, and the request that a library does not pass on. Spans have one too. */
const contexts = [
  'src/platform/database/create-database.ts',
  'src/documents/retrieval/engines/new-chunks.ts',
  'src/tenants/accounts/sign-in.ts',
]

function mayKeepContext(from: string): boolean {
  return contexts.includes(from) || roomOf(from) === 'platform/telemetry'
}

function mayUseDatabase(from: string): boolean {
  return from.endsWith('.store.ts') || ['platform/jobs', 'documents/ingestion'].includes(roomOf(from) ?? '')
}

const configuration = 'src/app/config/config.ts'

function checkEnvironment({ path: from, readsEnvironment }: Module): string[] {
  return readsEnvironment && from !== configuration && !from.startsWith('cli/')
    ? [`${from}: reads process.env; only ${configuration} may (rule 3)`]
    : []
}

/** A row of the table for what does not exist, or with an import that never happens, hides what is true. */
function checkTable(modules: readonly Module[], wings: Wings): string[] {
  const table = 'the table of wings'
  const wingEdges = edgesBetween(modules, wingOf)
  const roomEdges = edgesBetween(modules, roomOf)
  const missing = [
    ...[...wingEdges.keys()].filter((wing) => !(wing in wings)).map((wing) => `${table} lacks the wing ${wing}`),
    ...[...roomEdges.keys()].filter((room) => !hasRow(room, wings)).map((room) => `${table} lacks the room ${room}`),
  ]
  const unused = (from: string, targets: readonly string[], actual: ReadonlyMap<string, string> | undefined) => {
    if (!actual) return [`${table} names ${from}, which does not exist`]
    const idle = targets.filter((target) => !actual.has(target))
    return idle.map((target) => `${table} lets ${from} import ${target}, which it never does`)
  }
  return [
    ...missing,
    ...Object.entries(wings).flatMap(([wing, { imports, rooms }]) => [
      ...unused(wing, imports, wingEdges.get(wing)),
      ...Object.entries(rooms).flatMap(([name, targets]) => {
        const room = `${wing}/${name}`
        return unused(
          room,
          targets.map((target) => `${wing}/${target}`),
          roomEdges.get(room),
        )
      }),
    ]),
  ]
}

function hasRow(room: string, wings: Wings): boolean {
  const [wing = '', name] = room.split('/')
  return name === undefined || wings[wing]?.rooms[name] !== undefined
}

/** What each part imports, with one of the importing files. Composition is above all parts and is left out. */
function edgesBetween(
  modules: readonly Module[],
  partOf: (file: string) => string | undefined,
): Map<string, Map<string, string>> {
  const edges = new Map<string, Map<string, string>>()
  for (const { path: from, imports } of modules) {
    const part = partOf(from)
    if (part === undefined || isComposition(from)) continue
    const targets = edges.get(part) ?? new Map<string, string>()
    edges.set(part, targets)
    for (const { to } of imports) {
      const target = partOf(to)
      if (target === undefined || target === part || isComposition(to)) continue
      if (!targets.has(target)) targets.set(target, from)
    }
  }
  return edges
}

export function findRoomsWithoutIndex(paths: readonly string[], wings: Wings): string[] {
  return Object.entries(wings)
    .flatMap(([wing, { rooms }]) => Object.keys(rooms).map((room) => `src/${wing}/${room}`))
    .filter((room) => !paths.includes(`${room}/index.ts`))
    .map((room) => `${room} has no index.ts (rule 5)`)
}

/** A file and a folder of one name next to each other, such as `models.ts` and `models/`: the reader cannot see which one leads. */
export function findTwins(paths: readonly string[]): string[] {
  const folders = new Set(paths.map((file) => file.slice(0, file.lastIndexOf('/'))))
  return paths
    .filter((file) => folders.has(file.replace(/\.[a-z.]+$/, '')))
    .map((file) => `${file} is next to a folder of the same name (rule 5)`)
}

/** Cycles between wings or rooms, over all imports: a type that two of them share belongs below both. */
function checkCycles(
  modules: readonly Module[],
  parts: string,
  partOf: (file: string) => string | undefined,
): string[] {
  const edges = edgesBetween(modules, partOf)
  return findCycles(new Map([...edges].map(([part, targets]) => [part, [...targets.keys()]]))).map((cycle) => {
    const steps = cycle.slice(1).map((part, index) => edges.get(cycle[index]!)!.get(part))
    return `${parts} import each other: ${cycle.join(' → ')} (rule 5), for instance in ${steps.join(', ')}`
  })
}

/** Cycles between modules of src/, over all imports: a type that two of them share belongs into a third one. */
function checkModuleCycles(modules: readonly Module[]): string[] {
  const edges = new Map(
    modules
      .filter(({ path: from }) => from.startsWith('src/'))
      .map(({ path: from, imports }) => [from, imports.map(({ to }) => to)]),
  )
  return findCycles(edges).map((cycle) => `modules import each other: ${cycle.join(' → ')} (rule 5)`)
}

/** What a module must not load, neither itself nor through its imports. */
const unreachable: readonly { from: string; parts: RegExp }[] = [
  { from: 'src/gateway/gateway/complete.ts', parts: /^src\/documents\/ingestion\// },
  // A process with the role `gateway`.
  { from: 'src/app/roles/gateway.ts', parts: /^src\/(?:documents|chat)\// },
]

function checkReach(modules: readonly Module[]): string[] {
  const edges = runtimeEdges(modules)
  return unreachable.flatMap(({ from, parts }) => {
    const reached = new Set([from])
    for (const file of reached) for (const next of edges.get(file) ?? []) reached.add(next)
    return [...reached]
      .filter((file) => parts.test(file))
      .map((file) => `${file}: ${from} reaches it through its imports (rule 4)`)
  })
}

function runtimeEdges(modules: readonly Module[]): Map<string, string[]> {
  return new Map(
    modules.map(({ path: from, imports }) => [
      from,
      imports.filter(({ to, typeOnly }) => !typeOnly && to.startsWith('src/')).map(({ to }) => to),
    ]),
  )
}

/** Composition is above all rooms: it may import every room, and no room imports it. */
function isComposition(file: string): boolean {
  return /^src\/(?:main\.ts$|app\/(?!(?:config|backup)\/))/.test(file)
}

/** Page views are routes as well. */
function isRoutes(file: string): boolean {
  return /\.(?:routes|view)\.ts$/.test(file)
}

/** Tests and their fixtures: test/README.md. */
function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}

function wingOf(file: string): string | undefined {
  return /^src\/([a-z-]+)\//.exec(file)?.[1]
}

/** `wing/room`; the name of the wing where it has no rooms. */
function roomOf(file: string): string | undefined {
  const [, wing, room] = /^src\/([a-z-]+)\/(?:([a-z-]+)\/)?/.exec(file) ?? []
  return wing === 'contract' || wing === 'console' || room === undefined ? wing : `${wing}/${room}`
}
