import { expect, test } from 'vitest'
import { sharedOwner } from '../kernel/index.ts'
import { createTurnQueue, type TurnOptions } from './session.ts'

function arrange(connections?: number) {
  const turns = createTurnQueue(connections)
  const granted: string[] = []
  const take = (name: string, owner = sharedOwner, options?: TurnOptions) =>
    turns.take(owner, options).then(() => void granted.push(name))
  const release = async () => {
    turns.release()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { turns, granted, take, release }
}

test('organisations take turns, however many statements of one wait', async () => {
  const { turns, granted, take, release } = arrange()
  await take('flood 1', 'flood')
  for (const number of [2, 3, 4, 5]) void take(`flood ${number}`, 'flood')
  void take('small 1', 'small')
  void take('ledger')
  for (let turn = 0; turn < 3; turn += 1) await release()
  void take('small 2', 'small')
  for (let turn = 0; turn < 3; turn += 1) await release()
  expect(granted).toEqual(['flood 1', 'flood 2', 'small 1', 'ledger', 'flood 3', 'small 2', 'flood 4'])
  await release()
  await release()
  expect(granted.at(-1)).toBe('flood 5')
  expect(turns.load()).toBe(0)
})

test('several run at the same time where there are several connections', async () => {
  const { turns, granted, take, release } = arrange(2)
  await take('a 1', 'a')
  await take('a 2', 'a')
  void take('a 3', 'a')
  void take('a 4', 'a')
  void take('b 1', 'b')
  expect(granted).toEqual(['a 1', 'a 2'])
  await release()
  await release()
  expect(granted).toEqual(['a 1', 'a 2', 'a 3', 'b 1'])
  expect(turns.load()).toBe(3)
})

test('a caller that no longer waits leaves the queue, and waits no longer than it may', async () => {
  const { turns, granted, take, release } = arrange()
  await take('first', 'a')
  const left = new AbortController()
  const aborted = take('aborted', 'a', { signal: left.signal })
  const late = take('late', 'b', { waitMs: 1 })
  void take('next', 'a')
  left.abort(new Error('gone'))
  await expect(aborted).rejects.toThrow('gone')
  await expect(late).rejects.toThrow('within 1 ms')
  await release()
  expect(granted).toEqual(['first', 'next'])
  await release()
  expect(turns.load()).toBe(0)
})

test('the last one goes after all others, but not after background work that would still let others go first', async () => {
  const { turns, granted, take, release } = arrange()
  await take('first', 'a')
  void take('background', 'a', { background: true })
  void turns.takeLast().then(() => granted.push('last'))
  void take('b', 'b')
  void take('a', 'a')
  for (let turn = 0; turn < 4; turn += 1) await release()
  expect(granted).toEqual(['first', 'a', 'b', 'last', 'background'])
  await release()
  expect(turns.load()).toBe(0)
})

test('an organisation cannot take all places of those that wait', async () => {
  const { take, granted, release } = arrange()
  await take('first', 'flood')
  const refused: unknown[] = []
  for (let number = 0; number < 5_001; number += 1)
    void take('flood', 'flood').catch((error: unknown) => refused.push(error))
  await new Promise((resolve) => setImmediate(resolve))
  expect(refused).toHaveLength(1)
  void take('small', 'small')
  await release()
  await release()
  expect(granted).toEqual(['first', 'flood', 'small'])
})
