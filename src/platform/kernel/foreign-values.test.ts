import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readAtMost } from './foreign-values.ts'

test('a stream is read up to a limit, and closed above it', async () => {
  const chunks = () => Readable.from([Buffer.from('ab'), Buffer.from('cd'), Buffer.from('ef')])
  expect(String(await readAtMost(chunks(), 6))).toBe('abcdef')
  expect(await readAtMost(null, 1)).toHaveLength(0)
  const longer = chunks()
  expect(await readAtMost(longer, 3)).toBeUndefined()
  expect(longer.destroyed).toBe(true)
})
