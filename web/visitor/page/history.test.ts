import { expect, test } from 'vitest'
import { type Conversation, createHistory } from './history.ts'

function createStorage(maximumCharacters = Number.POSITIVE_INFINITY) {
  const values = new Map<string, string>()
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem(key: string, value: string) {
      if (value.length > maximumCharacters) throw new DOMException('full', 'QuotaExceededError')
      values.set(key, value)
    },
    removeItem: (key: string) => void values.delete(key),
  } as Storage
  return { storage, values }
}

const conversation = (at: number, text = 'Answer'): Conversation => ({
  id: `c${at}`,
  title: 'Question',
  at,
  turns: [{ id: 't', question: 'Question', status: 'done', text }],
})

test('keeps the latest fifty conversations, latest first', () => {
  const { storage } = createStorage()
  const history = createHistory('a', storage)
  history.save(Array.from({ length: 60 }, (_, at) => conversation(at)))
  expect(history.load().map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, index) => 59 - index))
})

test('drops the oldest conversations when the storage is full', () => {
  const { storage } = createStorage(1_000)
  const history = createHistory('a', storage)
  history.save(Array.from({ length: 8 }, (_, at) => conversation(at, 'x'.repeat(200))))
  expect(history.load().map(({ at }) => at)).toEqual([7, 6])
})

test('shows an answer that a closed page interrupted as stopped', () => {
  const { storage } = createStorage()
  const history = createHistory('a', storage)
  history.save([{ ...conversation(1), turns: [{ id: 't', question: 'Q', status: 'writing', text: 'Half' }] }])
  expect(history.load()[0]!.turns[0]!.status).toBe('stopped')
})

test('starts empty from a storage that is damaged, of another Space, or refused', () => {
  const { storage, values } = createStorage()
  createHistory('b', storage).save([conversation(1)])
  values.set('portico.chat.a', '{"version":1,"conv')
  expect(createHistory('a', storage).load()).toEqual([])
  expect(createHistory('a', undefined).load()).toEqual([])
  createHistory('b', storage).save([])
  expect([...values.keys()]).toEqual(['portico.chat.a'])
})
