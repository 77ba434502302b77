import type { FileResult } from './check-file.ts'

/** docs/reference/corpus.md. */
export function renderTable(results: readonly FileResult[]): string {
  const passed = results.filter((result) => result.passed).length
  const rows = results.map(
    ({ file, expected, outcome, passed: isPassed }) =>
      `| ${file.id} | ${file.bytes} | ${expected} | ${outcome} | ${isPassed ? 'yes' : '**no**'} |`,
  )
  return `# Corpus: the outcome of real files

For operators who want to know how well their kinds of files are read, and for contributors to extraction.

Written by \`npm run corpus -- --write\`, which uploads every file through the API and waits. Recall is the share of the expected
words (as a multiset; NFKC, lower case; Han, Kana, Hangul and Thai by character) that are in the chunks, read back through
\`GET /api/documents/{id}/chunks\` with the overlap of neighbours cut off. A failure must carry the code of its class.

${passed} of ${results.length} files meet their expectation.

| File | Bytes | Expected | Outcome | Meets it |
|---|---|---|---|---|
${rows.join('\n')}
`
}
