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

/** The rooms that each room may import; `kernel` and its own files always. */
export type AllowedRooms = Record<string, string[]>

export function readModule(file: SourceFile): Module {
  return {
    path: file.path,
    imports: readImports(file),
    readsEnvironment: /\bprocess\.env\b/.test(file.text),
  }
}

/** Every broken rule of ARCHITECTURE.md ("Rules that a check enforces"), each as one line. Tests and fixtures import what they need. */
export function findViolations(modules: readonly Module[], allowed: AllowedRooms): string[] {
  const production = modules.filter((module) => !isTest(module.path))
  return [
    ...production.flatMap((module) => module.imports.flatMap((one) => checkImport(module.path, one, allowed))),
    ...production.flatMap(checkEnvironment),
    ...checkTable(production, allowed),
    ...checkRoomCycles(production),
    ...checkModuleCycles(production),
    ...checkCompleteReach(production),
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

function checkImport(from: string, { to, typeOnly }: Import, allowed: AllowedRooms): string[] {
  const broken = (rule: string) => [`${from} imports ${to}: ${rule}`]
  const room = roomOf(from)
  const target = roomOf(to)
  if (isTest(to)) return broken('only tests, benches and scripts import fixtures (test/README.md)')
  if (room === 'kernel' && target !== 'kernel' && !to.startsWith('node:'))
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
    return isFastify && room !== 'http' && !isRoutes(from) ? broken('only http and routes import fastify (rule 2)') : []
  }
  if (isComposition(from) || from.startsWith('cli/') || from.startsWith('src/config')) return []
  if (target === undefined || isComposition(to))
    return broken('main, first-start, service and config are above the rooms (rule 2)')
  if (room === target || target === 'kernel') {
    return isRoutes(from) && to.endsWith('.store.ts') ? broken('routes never import stores (rule 2)') : []
  }
  if (!allowed[room ?? '']?.includes(target)) return broken(`${room} may not import ${target} (rule 4)`)
  if (to !== `src/${target}/index.ts` && target !== 'contract')
    return broken('a room is imported through its index.ts (rule 5)')
  return [
    ...(target === 'database' && !typeOnly && !mayUseDatabase(from)
      ? broken('only stores, jobs and ingestion import the database at run time (rule 3)')
      : []),
    ...(target === 'http' && !isRoutes(from) ? broken('only routes import http (rule 2)') : []),
  ]
}

function mayUseDatabase(from: string): boolean {
  return from.endsWith('.store.ts') || ['jobs', 'ingestion'].includes(roomOf(from) ?? '')
}

function checkEnvironment({ path: from, readsEnvironment }: Module): string[] {
  return readsEnvironment && from !== 'src/config.ts' && !from.startsWith('cli/')
    ? [`${from}: reads process.env; only src/config.ts may (rule 3)`]
    : []
}

/** A row of the table for a room that does not exist, or with a room that it never imports, hides what is true. */
function checkTable(modules: readonly Module[], allowed: AllowedRooms): string[] {
  const imported = new Map<string, Set<string>>()
  for (const { path: from, imports } of modules) {
    const room = roomOf(from)
    if (room === undefined || isComposition(from)) continue
    const targets = imported.get(room) ?? new Set()
    for (const { to } of imports) targets.add(roomOf(to) ?? '')
    imported.set(room, targets)
  }
  const table = 'the table of allowed rooms'
  return [
    ...[...imported.keys()].filter((room) => !(room in allowed)).map((room) => `${table} lacks the room ${room}`),
    ...Object.entries(allowed).flatMap(([room, targets]) => {
      const actual = imported.get(room)
      if (!actual) return [`${table} names the room ${room}, which does not exist`]
      return targets
        .filter((target) => !actual.has(target))
        .map((target) => `${table} lets ${room} import ${target}, which it never does`)
    }),
  ]
}

/** Cycles between rooms, over all imports: a type that two rooms share belongs below both. */
function checkRoomCycles(modules: readonly Module[]): string[] {
  const edges = new Map<string, Map<string, string>>()
  for (const { path: from, imports } of modules) {
    const room = roomOf(from)
    if (room === undefined || isComposition(from)) continue
    for (const { to } of imports) {
      const target = roomOf(to)
      if (target === undefined || target === room || isComposition(to)) continue
      const targets = edges.get(room) ?? new Map<string, string>()
      if (!targets.has(target)) targets.set(target, from)
      edges.set(room, targets)
    }
  }
  return findCycles(new Map([...edges].map(([room, targets]) => [room, [...targets.keys()]]))).map((cycle) => {
    const steps = cycle.slice(1).map((room, index) => edges.get(cycle[index]!)!.get(room))
    return `rooms import each other: ${cycle.join(' → ')} (rule 5), for instance in ${steps.join(', ')}`
  })
}

/** Cycles between modules, over imports that exist at run time. */
function checkModuleCycles(modules: readonly Module[]): string[] {
  return findCycles(runtimeEdges(modules)).map((cycle) => `modules import each other: ${cycle.join(' → ')} (rule 5)`)
}

/** Nothing that the path of every completion loads is in ingestion/. */
function checkCompleteReach(modules: readonly Module[]): string[] {
  const start = 'src/gateway/complete.ts'
  const edges = runtimeEdges(modules)
  const reached = new Set([start])
  for (const file of reached) for (const next of edges.get(file) ?? []) reached.add(next)
  return [...reached]
    .filter((file) => roomOf(file) === 'ingestion')
    .map((file) => `${file}: ${start} reaches it through its imports (rule 4)`)
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
  return /^src\/(?:(?:main|bundle|process|first-start|offline|process-log|service)\.ts$|(?:first-start|offline|process-log|service)\/)/.test(
    file,
  )
}

/** Page views are routes as well. */
function isRoutes(file: string): boolean {
  return /\.(?:routes|view)\.ts$/.test(file)
}

/** Tests and their fixtures: test/README.md. */
function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}

function roomOf(file: string): string | undefined {
  return /^src\/([a-z-]+)\//.exec(file)?.[1]
}
