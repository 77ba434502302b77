import { expect, test } from 'vitest'
import { firstChoice } from './callable-ids.ts'

const side = (id: string, input: string, output = input) => ({
  id,
  prices: { input, output, cacheRead: '0', cacheWrite: '0', reasoning: '0' },
})

test('the first choice is free if any model is, and the first one otherwise', () => {
  const [paid, half, free] = [side('a', '1'), side('b', '0', '2'), side('c', '0.0')]
  expect(firstChoice([paid, half, free])?.id).toBe('c')
  expect(firstChoice([paid, half])?.id).toBe('a')
  expect(firstChoice([])).toBeUndefined()
})
