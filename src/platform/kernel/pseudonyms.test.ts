import { expect, test } from 'vitest'
import { createPseudonyms } from './secret-box.ts'

test('a pseudonym is stable for one person and differs between persons, organisations and installations', () => {
  const here = createPseudonyms('k'.repeat(32))
  const elsewhere = createPseudonyms('l'.repeat(32))
  const name = here('org-1', 'ada@example.org')
  expect(name).toMatch(/^[0-9a-f]{64}$/)
  expect(here('org-1', 'ada@example.org')).toBe(name)
  const others = [
    here('org-2', 'ada@example.org'),
    here('org-1', 'bob@example.org'),
    elsewhere('org-1', 'ada@example.org'),
  ]
  expect(new Set([name, ...others]).size).toBe(4)
})
