import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { type Log, silentLog } from '../../platform/kernel/index.ts'
import { estimateTokens } from './token-counting.ts'
import { createTokenCounter, createTokenCounting, loadVocabulary, type TokenCounting } from './index.ts'

const owner = 'an organisation'
let counting: TokenCounting
afterEach(() => counting?.close())

const { count } = createTokenCounter(loadVocabulary())
const prose = 'The company holds its yearly meeting in the garden behind the old house.\n'
const emoji = '😀'.repeat(100_000)

function start(limits: Parameters<typeof createTokenCounting>[0]['limits'] = {}, log: Log = silentLog) {
  return (counting = createTokenCounting({ log, limits }))
}

/** A log that keeps the warnings. */
function createWarnings() {
  const messages: string[] = []
  const log: Log = { ...silentLog, warn: (_fields, message) => void messages.push(message) }
  return { log, messages }
}

test('counts small and large texts exactly, whichever thread counts them', async () => {
  start()
  const texts = [prose, '', prose.repeat(3_000), emoji]
  const exact = texts.reduce((sum, text) => sum + count(text), 0)
  expect(await counting.count(texts, owner)).toBe(exact)
  // The vocabulary is loaded now, and small texts are counted at once.
  expect(await counting.count([prose, prose], owner)).toBe(2 * count(prose))
  expect(await counting.count([], owner)).toBe(0)
  expect(await counting.count([''], owner)).toBe(0)
})

test('counts a small text before a large one that waits already', async () => {
  start({ inlineUnits: 0 })
  const finished: string[] = []
  const note = (name: string) => () => finished.push(name)
  await Promise.all([
    counting.count([emoji, emoji, emoji, emoji], owner).then(note('large')),
    counting.count([emoji, emoji], owner).then(note('medium')),
    counting.count([prose], owner).then(note('small')),
  ])
  expect(finished).toEqual(['small', 'medium', 'large'])
})

test('counts a text of another organisation before the many of one', async () => {
  start({ inlineUnits: 0 })
  const finished: string[] = []
  const countFor = (organisation: string, text: string) =>
    counting.count([text], organisation).then(() => finished.push(organisation))
  const flood = Array.from({ length: 10 }, () => countFor('flood', prose))
  await Promise.all([...flood, countFor('other', prose.repeat(10))])
  expect(finished.indexOf('other')).toBeLessThan(3)
})

test('estimates the texts of an organisation of which more waits than is free, and counts those of others', async () => {
  const { log, messages } = createWarnings()
  start({ waitingUnits: emoji.length * 2 }, log)
  const countFor = (organisation: string, text: string) => counting.count([text], organisation)
  const [first, second, other] = await Promise.all([
    countFor('flood', emoji),
    countFor('flood', emoji),
    countFor('other', emoji),
  ])
  expect([first, second, other]).toEqual([count(emoji), estimateTokens(emoji).estimate, count(emoji)])
  expect(messages).toEqual(['tokens were estimated: too much text waits to be counted'])
})

test('estimates what is not counted within the time limit', async () => {
  const { log, messages } = createWarnings()
  start({ timeLimitMs: 1 }, log)
  expect(await counting.count([emoji], owner)).toBe(estimateTokens(emoji).estimate)
  expect(messages).toEqual(['tokens were estimated: counting would take too long'])
})

test('estimates what does not fit into the queue, and counts again when it is shorter', async () => {
  const { log, messages } = createWarnings()
  start({ waitingUnits: emoji.length }, log)
  const [first, second] = await Promise.all([counting.count([emoji], owner), counting.count([prose], owner)])
  expect([first, second]).toEqual([count(emoji), estimateTokens(prose).estimate])
  expect(messages).toEqual(['tokens were estimated: too much text waits to be counted'])
  expect(await counting.count([prose], owner)).toBe(count(prose))
})

test('estimates where the thread dies, each time', async () => {
  const { log, messages } = createWarnings()
  const program = new URL('data:text/javascript,process.exit(1)')
  counting = createTokenCounting({ log, program })
  for (const text of [prose, emoji]) expect(await counting.count([text], owner)).toBe(estimateTokens(text).estimate)
  expect(messages.filter((message) => message.includes('has ended'))).toHaveLength(2)
})

test('starts the thread again after it was idle', async () => {
  const threads: Worker[] = []
  const note = (thread: Worker) => threads.push(thread)
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  start({ idleMs: 1, inlineUnits: 0 })
  expect(await counting.count([prose], owner)).toBe(count(prose))
  await once(threads[0]!, 'exit')
  expect(await counting.count([prose], owner)).toBe(count(prose))
  expect(threads).toHaveLength(2)
})

test('answers what is asked during and after close', async () => {
  start()
  const asked = counting.count([emoji], owner)
  await counting.close()
  expect(await asked).toBe(estimateTokens(emoji).estimate)
  expect(await counting.count([emoji], owner)).toBe(estimateTokens(emoji).estimate)
})
