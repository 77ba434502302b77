import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findBrokenReferences } from './checks/references.ts'
import { listPaths, readSourceFiles, repositoryRoot } from './checks/source-files.ts'

/** Breaks when a comment, a message or a document refers to a file, a folder or a heading that does not exist. */

const folders = ['src', 'cli', 'bench', 'eval', 'scripts', 'test', 'docs', 'bin', 'web', '.ci']
const rootFiles = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'package.json',
  'vitest.config.ts',
  'vitest.console.config.ts',
  'knip.json',
]

const files = readSourceFiles([...folders, ...rootFiles], /\.(?:tsx?|md|sh)$|^bin\/|^\.ci\//)
const broken = findBrokenReferences(files, {
  paths: listPaths([...folders, ...rootFiles]),
  read: (file) => readFileSync(path.join(repositoryRoot, file), 'utf8'),
})
for (const { path: file, line, reference, reason } of broken) console.error(`${file}:${line}: ${reference} ${reason}`)
if (broken.length > 0) {
  console.error(`${broken.length} broken references; scripts/checks/references.ts has the rules.`)
  process.exitCode = 1
} else console.log(`references: nothing is missing in ${files.length} files`)
