import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  findPackageProblems,
  findSbomProblems,
  readAudit,
  readLockedPackages,
  withoutTools,
} from './checks/packages.ts'
import { repositoryRoot } from './checks/source-files.ts'

/**
 * Fails when a package of package-lock.json, or of those of optional parts, runs a script at its installation, has no hash, or in production a licence that is not
 * allowed. With `--sbom FILE` it also writes a CycloneDX document of the packages in production and checks it, and reads the audit of
 * the registry. A registry without an audit is reported, and is no failure.
 */

const lock = JSON.parse(readFileSync(path.join(repositoryRoot, 'package-lock.json'), 'utf8'))
const packages = readLockedPackages(lock)
const optional = ['ocr', 'lance'].flatMap((name) =>
  readLockedPackages(JSON.parse(readFileSync(path.join(repositoryRoot, 'deploy', name, 'package-lock.json'), 'utf8'))),
)
const problems = findPackageProblems([...packages, ...optional])

const sbomFile = process.argv[2] === '--sbom' ? process.argv[3] : undefined
if (sbomFile !== undefined) {
  const all = JSON.parse(npm('sbom', '--package-lock-only', '--sbom-format=cyclonedx') || '{}')
  const sbom = withoutTools(all, packages)
  problems.push(...findSbomProblems(sbom, packages).map((one) => `bill of materials: ${one}`))
  writeFileSync(sbomFile, `${JSON.stringify(sbom, null, 2)}\n`)
  const audit = readAudit(npm('audit', '--package-lock-only', '--omit=dev', '--json'))
  if ('unavailable' in audit)
    console.log(`packages: the registry has no audit (${audit.unavailable}), so none was read`)
  else problems.push(...audit.vulnerable.map((one) => `audit: ${one}`))
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`packages: ${packages.length} without install scripts, with hashes and allowed licences`)

/** The standard output; npm ends with an error after findings, too. */
function npm(...words: string[]): string {
  const { stdout } = spawnSync('npm', words, { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return stdout ?? ''
}
