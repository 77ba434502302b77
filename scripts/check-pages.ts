import { findPageFaults } from './checks/pages.ts'
import { readSourceFiles } from './checks/source-files.ts'

/** Breaks when a page of docs/ has too many lines or a line that is too wide. */

/** Pages that are still to be shortened: this list is to be emptied. */
const exempt: readonly string[] = [
  'docs/decisions/0073-hot-route-stays-in-fastify.md',
  'docs/decisions/README.md',
  'docs/understand/adding-a-wire-format.md',
  'docs/understand/answers.md',
  'docs/understand/ingestion.md',
  'docs/understand/performance.md',
  'docs/understand/reliability.md',
  'docs/understand/retrieval.md',
  'docs/use/chat.md',
  'docs/use/console.md',
  'docs/use/conversations.md',
  'docs/use/documents.md',
  'docs/use/errors.md',
  'docs/use/golden-questions.md',
  'docs/use/space-archives.md',
]

const faults = findPageFaults(readSourceFiles(['docs'], /\.md$/))
const broken = faults.filter(({ path }) => !exempt.includes(path))
for (const { path, line, reason } of broken) console.error(`${path}:${line}: ${reason}`)
for (const page of exempt.filter((one) => !faults.some(({ path }) => path === one)))
  console.log(`pages: ${page} is within the bounds; remove it from the list of exempt pages`)
if (broken.length > 0) {
  console.error(`${broken.length} faults of pages; scripts/checks/pages.ts has the bounds.`)
  process.exitCode = 1
} else console.log(`pages: nothing is too long or too wide; ${exempt.length} pages are exempt`)
