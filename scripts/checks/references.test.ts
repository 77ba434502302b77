import { describe, expect, test } from 'vitest'
import { findBrokenReferences } from './references.ts'

const documents: Record<string, string> = { 'docs/errors.md': '# Errors\n\n## What `code` means\n' }
const paths = [
  'src/gateway/gateway/complete.ts',
  'src/gateway/providers/openai/flavours.ts',
  'test/acceptance/sdk.test.ts',
  'docs/errors.md',
  'docs/a.md',
  'bin/run',
]

const check = (path: string, text: string) =>
  findBrokenReferences([{ path, text }], { paths, read: (document) => documents[document] ?? '' }).map(
    ({ line, reference, reason }) => `${line}: ${reference} ${reason}`,
  )

describe('a comment', () => {
  test('names a file by its path from the root, from its own folder, or by the end of the path', () => {
    const references =
      'src/gateway/gateway/complete.ts, gateway/complete.ts, complete.ts, ../providers/openai/flavours.ts, src/gateway/gateway/'
    expect(check('src/gateway/gateway/a.ts', `// See ${references} and docs/errors.md.`)).toEqual([])
  })

  test('fails where the file or the folder does not exist', () => {
    expect(
      check(
        'src/gateway/gateway/a.ts',
        '/**\n * See `other.ts`, gateway/flavours.ts, ../openai/flavours.ts,\n * src/router/ and errors.md, decisions.md.\n */',
      ),
    ).toEqual([
      '3: src/router/ does not exist',
      '2: other.ts does not exist',
      '2: gateway/flavours.ts does not exist',
      '2: ../openai/flavours.ts does not exist',
      '3: decisions.md does not exist',
    ])
  })

  test('names nothing outside of the repository but the shared data', () => {
    expect(
      check('src/gateway/gateway/a.ts', '// ../shared/data/x is a setting, see ../shared/design/storage.md'),
    ).toEqual(['1: ../shared/design/storage.md is outside of the repository'])
  })

  test('may have placeholders, wildcards, addresses and names of packages', () => {
    const references = 'x.store.ts src/ROOM/ src/*/index.ts src/<room>/a.ts test/acceptance/gateway-*.test.ts'
    expect(check('src/gateway/gateway/a.ts', `// ${references} https://example.com/src/b.md @scope/name.ts`)).toEqual(
      [],
    )
  })
})

describe('a message', () => {
  test('names a document that exists', () => {
    expect(check('src/gateway/gateway/a.ts', "fail('see docs/errors.md'); fail('see docs/limits.md')")).toEqual([
      '1: docs/limits.md does not exist',
    ])
  })

  test('may name a file of the user', () => {
    expect(check('src/gateway/gateway/a.ts', "print('portico documents upload garden.md')")).toEqual([])
  })
})

describe('a document', () => {
  test('links to documents and headings that exist', () => {
    const links =
      '[a](../src/gateway/gateway/complete.ts) [b](errors.md#what-code-means) [c](#here) [d](https://example.com) [e](../src)'
    expect(check('docs/a.md', `# Here\n${links}`)).toEqual([])
  })

  test('fails where the target of a link does not exist', () => {
    expect(check('docs/a.md', '[a](limits.md)\n[b](errors.md#limits)\n[c](#here)')).toEqual([
      '1: limits.md does not exist',
      '2: errors.md#limits names a heading that does not exist',
      '3: #here names a heading that does not exist',
    ])
  })

  test('may have a link as an example in code', () => {
    expect(check('docs/a.md', '`[1](#source-1)` and [`a`](limits.md)')).toEqual(['1: limits.md does not exist'])
  })

  test('fails where a path in text or in a command does not exist', () => {
    expect(check('docs/a.md', 'The `router.ts`:\n```\nbin/run scripts/nothing.ts garden.md\n```')).toEqual([
      '3: scripts/nothing.ts does not exist',
      '1: router.ts does not exist',
    ])
  })
})
