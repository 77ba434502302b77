import { nominalReferenceMs } from '../test/harness/fixed-computation.ts'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import { proofs } from '../test/proofs/proofs.ts'
import { tiers } from '../test/tiers.ts'
import { readTestTimes } from './ci/test-times.ts'

/**
 * Fails if a test file is in no tier, if a proof is in no row of test/proofs/proofs.ts or a row names none, and if a file of the last
 * `npm test` on this machine took too long.
 */
const root = path.resolve(import.meta.dirname, '..')
/** Processor time of one file of `npm test`, on a processor that takes `nominalReferenceMs` for the computation of test/harness/fixed-computation.ts. */
const maximumSeconds = 5

const tracked = execFileSync('git', ['ls-files', '*.test.ts', '*.test.tsx'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
const glob = ({ include, exclude }: { include: string[]; exclude: string[] }) =>
  new Set(globSync(include, { cwd: root, exclude }))
const all = glob(tiers.all)
const proofFiles = glob(tiers.proofs)
const listed = new Set(proofs.flatMap(({ files = [] }) => files))
const times = readTestTimes()
const bound = maximumSeconds * Math.max(1, (times?.referenceMs ?? 0) / nominalReferenceMs)

const faults = [
  ...tracked
    .filter((file) => existsSync(path.join(root, file)))
    .filter((file) => !all.has(file) && !proofFiles.has(file) && !file.startsWith('test/console/'))
    .map((file) => `${file} is in no tier: test/tiers.ts`),
  ...[...proofFiles].filter((file) => !listed.has(file)).map((file) => `${file} is in no row of test/proofs/proofs.ts`),
  ...[...listed]
    .filter((file) => !proofFiles.has(file))
    .map((file) => `test/proofs/proofs.ts names ${file}, which does not exist`),
  ...(times?.files ?? [])
    .filter(({ seconds }) => seconds > bound)
    .map(
      ({ file, seconds }) =>
        `${file} took ${seconds.toFixed(1)} s of processor time in npm test; the bound is ${bound.toFixed(1)} s on this machine. Make it faster, or name it .slow.test.ts`,
    ),
]
for (const fault of faults) console.error(fault)
if (times === undefined) console.log('npm test has not run here: the times of its files are not checked')
process.exitCode = faults.length === 0 ? 0 : 1
