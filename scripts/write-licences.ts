import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readLockedPackages, renderLicences } from './checks/packages.ts'
import { repositoryRoot } from './checks/source-files.ts'

/** Writes docs/reference/licences.md, or with `--check` fails when it is out of date. */
const file = path.join(repositoryRoot, 'docs/reference/licences.md')
const lock = JSON.parse(readFileSync(path.join(repositoryRoot, 'package-lock.json'), 'utf8'))
const optional = ['ocr', 'lance'].flatMap((name) =>
  readLockedPackages(JSON.parse(readFileSync(path.join(repositoryRoot, 'deploy', name, 'package-lock.json'), 'utf8'))),
)
const text = renderLicences([...readLockedPackages(lock), ...optional])
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error('docs/reference/licences.md is out of date: run `npm run write:licences`.')
  process.exitCode = 1
}
