import { expect, test } from 'vitest'
import { workPerTurn } from '../../../../test/harness/timing.ts'
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

test('at most 60 sentences and 200 passages are compared, and the event loop gets a turn after each passage', async () => {
  const unsupported = 'A lamp of this house costs 77777 euros. '
  const supported = 'The harbour was built in 1932.'
  expect(await find(unsupported.repeat(59) + supported)).toEqual([passages[1]])
  expect(await find(unsupported.repeat(60) + supported)).toEqual(passages)
  const many = Array.from({ length: 5_000 }, (_, index) => (index < 200 ? passages[0]! : passages[1]!))
  let compared = 0
  const findMany = async () => {
    const found = await findSupporting(many, supported, {
      toText: (text) => {
        compared++
        return { title: 'file.txt', text }
      },
      signal: new AbortController().signal,
    })
    expect(found).toEqual(many)
  }
  expect(await workPerTurn(findMany, () => compared)).toBe(1)
  expect(compared).toBe(200)
})
