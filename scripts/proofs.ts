import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { type Proof, proofs } from '../test/proofs/proofs.ts'

/**
 * `npm run test:proofs -- [--list] [--changed] [NAME…]`: runs all proofs, or those named; `--changed`: those whose rooms have changed since
 * the last release, the commit that last changed the version in package.json. The last lines are what failed, and `N passed, N failed`. Proofs on PostgreSQL
 * need PORTICO_TEST_DATABASE_URL.
 */
const root = path.resolve(import.meta.dirname, '..')
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
const given = process.argv.slice(2)
const options = ['--list', '--changed']
const names = given.filter((argument) => !options.includes(argument))
const unknown = names.filter((name) => !proofs.some((proof) => proof.name === name))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}. Usage: npm run test:proofs -- [${options.join('] [')}] [NAME…], with`)
  console.error(proofs.map(({ name }) => name).join(', '))
  process.exit(2)
}
const selected = given.includes('--changed')
  ? changed()
  : proofs.filter(({ name }) => names.length === 0 || names.includes(name))
if (given.includes('--list')) {
  for (const { name, proves } of selected) console.log(`${name.padEnd(20)} ${proves}`)
  process.exit(0)
}

/** The proofs of the rooms that changed since the last release; all where the history does not have it. */
function changed(): readonly Proof[] {
  const release = git('log', '-1', '--format=%H', '-G"version": "', '--', 'package.json')
  if (release === '' || git('rev-parse', '--is-shallow-repository') === 'true') return proofs
  const files = git('diff', '--name-only', release, 'HEAD').split('\n')
  const needs = ({ rooms, files: own = [] }: Proof) =>
    files.some((file) => own.includes(file) || (isProduct(file) && rooms.some((room) => file.startsWith(room))))
  return proofs.filter(needs)
}

/** Tests of a room do not change what its proof proves. */
function isProduct(file: string): boolean {
  return !file.endsWith('.test.ts') && !file.endsWith('.md')
}

const serverUrl = process.env['PORTICO_TEST_DATABASE_URL']
const seed = process.env['PORTICO_TEST_SEED'] || String(Date.now() % 1_000_000)
console.log(`PORTICO_TEST_SEED=${seed} repeats these random choices`)
const sum = { passed: 0, failed: 0 }
const faults: string[] = []

for (const proof of selected) {
  const began = Date.now()
  const before = { ...sum }
  console.log(`\n== ${proof.name}: ${proof.proves}`)
  if (proof.command) run(proof, proof.command, proof.engines?.includes('postgres') ? serverUrl : undefined)
  else for (const engine of proof.engines ?? []) runFiles(proof, engine)
  const minutes = ((Date.now() - began) / 60_000).toFixed(1)
  console.log(
    `== ${proof.name}: ${sum.passed - before.passed} passed, ${sum.failed - before.failed} failed, ${minutes} min`,
  )
}
for (const fault of faults) console.log(fault)
console.log(`${sum.passed} passed, ${sum.failed} failed`)
process.exitCode = sum.failed === 0 ? 0 : 1

function runFiles({ name, files = [] }: Proof, engine: 'embedded' | 'postgres'): void {
  if (engine === 'postgres' && !serverUrl) {
    console.log(`${name}: not run on PostgreSQL: PORTICO_TEST_DATABASE_URL is not set`)
    return
  }
  const program = ['bin/run', 'scripts/test.ts', 'quick', '--project=proofs', ...files]
  run({ name }, program, engine === 'postgres' ? serverUrl : '')
}

/** Runs one program and adds the numbers of its last line. `url`: of the PostgreSQL server; empty for the embedded engine. */
function run(
  { name }: Pick<Proof, 'name'>,
  [program = '', ...words]: readonly string[],
  url: string | undefined,
): void {
  const environment = {
    ...process.env,
    PORTICO_TEST_SEED: seed,
    ...(url === undefined ? {} : { PORTICO_TEST_DATABASE_URL: url }),
  }
  const { status, stdout } = spawnSync(program, words, {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
  })
  process.stdout.write(stdout)
  if (status === 3) {
    console.log(`${name}: not run: this machine cannot run it`)
    return
  }
  faults.push(
    ...stdout
      .split('\n')
      .filter((line) => /(?:^|: )FAILED: /.test(line))
      .map((line) => `${name}: ${line}`),
  )
  const [, passed = '0', failed = '0'] = /(\d+) passed, (\d+) failed(?:, \d+ skipped)?\s*$/.exec(stdout) ?? []
  sum.passed += Number(passed)
  sum.failed += status !== 0 && Number(failed) === 0 ? 1 : Number(failed)
}
