import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { providerFormats } from '../../contract/provider-formats.ts'

test('docs/operate/providers.md describes every format, and no other', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/operate/providers.md'), 'utf8')
  const table = page.slice(page.indexOf('## Formats'), page.indexOf('## Flavours'))
  const described = table
    .split('\n')
    .filter((line) => /^\| `(?!format`)/.test(line))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([a-z]+)`/g)].map(([, name]) => name))
  expect(described).toEqual([...providerFormats, 'offline'])
})
