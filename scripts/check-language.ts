import { findTerms } from './checks/language.ts'
import { notCleanYet } from './checks/language-terms.ts'
import { readSourceFiles } from './checks/source-files.ts'

/**
 * Breaks when prose or a name uses a term of `checks/language-terms.ts`. Reads comments, messages, test titles and declared names of
 * TypeScript, documents without their code, and comments and messages of shell scripts. With paths as arguments it checks what
 * begins with them, also where it is not clean yet.
 */

const places = ['src', 'cli', 'bench', 'scripts', 'test', 'docs', 'bin', '.ci']
const singleFiles = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'vitest.config.ts']
const asked = process.argv.slice(2).map((place) => place.replace(/^\.\//, ''))

const isChecked = (file: string) =>
  asked.length > 0
    ? asked.some((place) => file.startsWith(place))
    : !notCleanYet.some((place) => file.startsWith(place))
const files = readSourceFiles([...places, ...singleFiles], /\.(?:tsx?|md|sh)$|^bin\/|^\.ci\//).filter(({ path }) =>
  isChecked(path),
)
const hits = findTerms(files)
for (const { path, line, found, write } of hits) console.error(`${path}:${line}: "${found}" → ${write}`)
if (hits.length > 0) {
  console.error(`${hits.length} terms to replace; scripts/checks/language-terms.ts has the list.`)
  process.exitCode = 1
} else console.log(`language: no replaced term in ${files.length} files`)
