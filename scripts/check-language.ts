import { findTerms } from './checks/language.ts'
import { readSourceFiles } from './checks/source-files.ts'

/**
 * Breaks when prose or a name uses a term of `checks/language-terms.ts`. Reads comments, messages, test titles and declared names of
 * TypeScript, documents without their code, and comments and messages of shell scripts. With paths as arguments it checks only
 * files whose path begins with one of them.
 */

const places = ['src', 'cli', 'bench', 'eval', 'scripts', 'test', 'docs', 'bin', 'web', '.ci']
const singleFiles = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'vitest.config.ts']
const paths = process.argv.slice(2).map((place) => place.replace(/^\.\//, ''))

const files = readSourceFiles([...places, ...singleFiles], /\.(?:tsx?|md|sh)$|^bin\/|^\.ci\//).filter(
  ({ path }) => paths.length === 0 || paths.some((place) => path.startsWith(place)),
)
const hits = findTerms(files)
for (const { path, line, found, write } of hits) console.error(`${path}:${line}: "${found}" → ${write}`)
if (hits.length > 0) {
  console.error(`${hits.length} terms to replace; scripts/checks/language-terms.ts has the list.`)
  process.exitCode = 1
} else console.log(`language: no replaced term in ${files.length} files`)
