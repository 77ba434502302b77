import { expect, test } from 'vitest'
import { findSupporting } from './supporting-passages.ts'

const passages = [
  'The museum opens at nine and closes at five. Tickets cost 12 euros for adults.',
  'The harbour was built in 1932. Ships of the navy may stay for two weeks.',
  'Visitors of the zoo may feed goats in the afternoon.',
]

const find = (answer: string, signal = new AbortController().signal) =>
  findSupporting(passages, answer, { toText: (text) => ({ title: 'file.txt', text }), signal })

test('only passages that support a sentence of the answer are found', async () => {
  expect(await find('A ticket for adults costs 12 euros.')).toEqual([passages[0]])
  expect(await find('The harbour was built in 1932. Visitors may feed goats at the zoo.')).toEqual(passages.slice(1))
})

test('all passages are found where none supports a sentence', async () => {
  expect(await find('Der Hafen ist alt.')).toEqual(passages)
  expect(await find('')).toEqual(passages)
})

test('a caller that has left ends the comparison', async () => {
  await expect(find('Tickets cost 12 euros.', AbortSignal.abort())).rejects.toThrow('aborted')
})

test('the time is bounded for long answers and many passages', async () => {
  const many = Array.from({ length: 5_000 }, (_, number) => `Lamp ${number} costs ${number} euros. `.repeat(20))
  const used = process.cpuUsage()
  await findSupporting(many, 'A lamp of this house costs 77777 euros. '.repeat(5_000), {
    toText: (text) => ({ title: 'lamps.txt', text }),
    signal: new AbortController().signal,
  })
  const { user, system } = process.cpuUsage(used)
  expect((user + system) / 1000).toBeLessThan(8_000)
})
