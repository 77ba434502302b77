import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * Breaks when an import breaks a rule of ARCHITECTURE.md ("Rules that a check enforces"). Reads every module of src/, cli/ and
 * web/ and prints each violation with its rule.
 */

const root = path.resolve(import.meta.dirname, '..')

interface Import {
  from: string
  /** A path relative to the root, or a package name. */
  to: string
  typeOnly: boolean
}

/** Rooms that a room may import; `kernel` and its own files always. Unlisted rooms import nothing else. */
const allowedRooms: Record<string, string[]> = {
  kernel: [],
  contract: [],
  database: ['contract'],
  jobs: ['database'],
  operators: ['contract', 'database', 'http'],
  organisations: ['contract', 'database', 'http', 'operators'],
  billing: ['contract', 'database', 'http', 'organisations'],
  tokens: [],
  providers: ['tokens'],
  models: ['contract', 'database', 'http', 'operators', 'organisations', 'billing', 'providers'],
  routing: ['models', 'providers'],
  gateway: ['contract', 'http', 'organisations', 'billing', 'models', 'routing', 'providers', 'tokens'],
  documents: ['contract', 'database', 'http', 'jobs', 'organisations'],
  retrieval: ['contract', 'database', 'gateway', 'jobs', 'organisations', 'providers', 'tokens'],
  ingestion: ['contract', 'database', 'jobs', 'documents', 'retrieval', 'tokens'],
  spaces: ['contract', 'database', 'http', 'operators', 'organisations'],
  chat: ['contract', 'http', 'organisations', 'billing', 'gateway', 'retrieval', 'providers', 'tokens', 'spaces'],
  http: ['contract'],
}

/** Composition: files directly in src/ with the parts that they read from. They may know every room's index; no room knows them. */
const isComposition = (file: string) =>
  /^src\/(?:(?:main|first-start|service)\.ts|(?:first-start|service)\/)/.test(file)

const modules = ['src', 'cli'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
)
const violations: string[] = []
const imports: Import[] = []
for (const file of modules) {
  const source = readFileSync(path.join(root, file), 'utf8')
  const found = readImports(file, source)
  imports.push(...found)
  if (!isTest(file)) {
    for (const one of found) checkImport(one)
    if (/\bprocess\.env\b/.test(source) && file !== 'src/config.ts' && !file.startsWith('cli/')) {
      violations.push(`${file}: reads process.env; only src/config.ts may (rule 3)`)
    }
  }
}
checkCycles()
checkCompleteReach()

if (violations.length > 0) {
  for (const violation of violations) console.error(violation)
  console.error(`${violations.length} broken dependency rules; see ARCHITECTURE.md, "Rules that a check enforces".`)
  process.exitCode = 1
} else console.log(`dependency rules hold: ${modules.length} modules, ${imports.length} imports`)

function readImports(file: string, source: string): Import[] {
  const { module } = parseSync(file, source)
  const found: Import[] = []
  const add = (specifier: string, typeOnly: boolean) => {
    const to = specifier.startsWith('.')
      ? path.relative(root, path.resolve(root, path.dirname(file), specifier))
      : specifier
    found.push({ from: file, to, typeOnly })
  }
  for (const statement of module.staticImports) {
    add(statement.moduleRequest.value, statement.entries.length > 0 && statement.entries.every((entry) => entry.isType))
  }
  for (const statement of module.staticExports) {
    for (const entry of statement.entries) if (entry.moduleRequest) add(entry.moduleRequest.value, entry.isType)
  }
  for (const dynamic of module.dynamicImports) {
    const text = source.slice(dynamic.moduleRequest.start, dynamic.moduleRequest.end)
    if (/^['"]/.test(text)) add(text.slice(1, -1), false)
  }
  return found
}

function checkImport({ from, to, typeOnly }: Import) {
  const say = (rule: string) => violations.push(`${from} imports ${to}: ${rule}`)
  const room = roomOf(from)
  const target = roomOf(to)
  if (isTest(to)) return say('only tests, benches and scripts import fixtures (test/README.md)')
  const isPackage =
    !to.startsWith('src/') && !to.startsWith('cli/') && !to.startsWith('web/') && !to.endsWith('package.json')
  if (room === 'kernel' && target !== 'kernel' && !to.startsWith('node:'))
    return say('kernel imports only node: (rule 1)')
  if (room === 'contract' && target !== 'contract' && to !== 'zod') return say('contract imports only zod (rule 1)')
  if (from.startsWith('cli/') && to.startsWith('src/') && target !== 'contract')
    return say('the command line knows contract only (rule 5)')
  if (isPackage) {
    if (/^(@fastify\/swagger|fastify)/.test(to) && room !== 'http' && !from.endsWith('.routes.ts'))
      say('rules know no fastify (rule 2)')
    return
  }
  if (isComposition(from) || from.startsWith('cli/') || from.startsWith('src/config')) return
  if (target === undefined) return say('only main, service and config stand above the rooms (rule 2)')
  if (room === target || target === 'kernel') {
    if (from.endsWith('.routes.ts') && to.endsWith('.store.ts')) say('routes never touch stores (rule 2)')
    return
  }
  if (!allowedRooms[room ?? '']?.includes(target)) return say(`${room} may not know ${target} (rule 4)`)
  if (to !== `src/${target}/index.ts` && target !== 'contract') say(`rooms speak through their index.ts (rule 5)`)
  if (target === 'database' && !typeOnly && !from.endsWith('.store.ts') && room !== 'jobs' && room !== 'ingestion') {
    say('only stores, jobs and ingestion know the database (rule 3)')
  }
  if (target === 'http' && !from.endsWith('.routes.ts') && !from.endsWith('.test.ts'))
    say('rules know no HTTP (rule 2)')
}

/** Cycles between modules, over imports that exist at run time. */
function checkCycles() {
  const edges = new Map<string, string[]>()
  for (const { from, to, typeOnly } of imports) {
    if (typeOnly || isTest(from) || !to.startsWith('src/')) continue
    edges.set(from, [...(edges.get(from) ?? []), to])
  }
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    const start = path.indexOf(file)
    if (start !== -1) return void violations.push(`cycle: ${[...path.slice(start), file].join(' → ')} (rule 5)`)
    if (done.has(file)) return
    path.push(file)
    for (const next of edges.get(file) ?? []) visit(next)
    path.pop()
    done.add(file)
  }
  for (const file of edges.keys()) visit(file)
}

/** Nothing reachable from the hot path lies in ingestion/. */
function checkCompleteReach() {
  const reached = new Set<string>()
  const queue = ['src/gateway/complete.ts']
  while (queue.length > 0) {
    const file = queue.pop()!
    if (reached.has(file)) continue
    reached.add(file)
    for (const one of imports) if (one.from === file && !one.typeOnly && one.to.startsWith('src/')) queue.push(one.to)
  }
  for (const file of reached) {
    if (file.startsWith('src/ingestion/')) violations.push(`${file} is reachable from gateway/complete.ts (rule 4)`)
  }
}

function roomOf(file: string): string | undefined {
  return /^src\/([a-z]+)\//.exec(file)?.[1]
}

/** Tests and their fixtures: test/README.md. */
function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}
