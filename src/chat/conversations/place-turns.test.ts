import { describe, expect, test } from 'vitest'
import { continueChain, digestConversation } from './chain.ts'
import { keepMessages, makeTurn } from './make-turn.ts'
import { type KnownTurn, placeTurns } from './place-turns.ts'
import type { Message, NewTurn } from './turn.ts'
import { createWaitingTurns } from './turn-writer.ts'

let requests = 0
let ids = 0
const createId = () => `conversation ${++ids}`

/** The turn of a request with these texts: questions and answers in alternation, from a question to the answer. */
async function turnOf(
  texts: readonly string[],
  { user = null, ...more }: { user?: string | null } & Partial<NewTurn> = {},
) {
  const messages = texts
    .slice(0, -1)
    .map((content, index): Message => ({ role: index % 2 ? 'assistant' : 'user', content }))
  const place = { requestId: `req_${++requests}`, organisationId: 'o', spaceId: 's', user, model: 'm' }
  const kept = { place, atMs: requests, ...keepMessages(messages) }
  const turn = makeTurn(kept, await digestConversation(messages, user), {
    outcome: 'complete',
    errorCode: null,
    text: texts.at(-1)!,
    references: [],
    sources: [],
    receipts: [],
    firstTextMs: 1,
    totalMs: 2,
  })
  return { ...turn, ...more }
}

const place = (turns: NewTurn[], known: ReadonlyMap<string, readonly KnownTurn[]> = new Map()) =>
  placeTurns(turns, known, createId).map(({ conversationId, number, follows, given }) => ({
    conversationId: Number(conversationId.split(' ')[1]) - first,
    number,
    follows,
    given: given && { texts: given.messages.map(({ content }) => content), leftOut: given.leftOut },
  }))
let first = 0
const placeAll = async (...turns: Promise<NewTurn>[]) => {
  const made = await Promise.all(turns)
  first = ids + 1
  return place(made)
}

describe('a turn', () => {
  test('continues the conversation whose messages its request repeats, without storing them again', async () => {
    expect(
      await placeAll(turnOf(['a', 'A']), turnOf(['a', 'A', 'b', 'B']), turnOf(['a', 'A', 'b', 'B', 'c', 'C'])),
    ).toEqual([
      { conversationId: 0, number: 1, follows: null, given: null },
      { conversationId: 0, number: 2, follows: 1, given: null },
      { conversationId: 0, number: 3, follows: 2, given: null },
    ])
  })

  test('is found although the client trims texts and removes markers', async () => {
    const placed = await placeAll(
      turnOf(['a', 'It costs 12 euros [1][2].\n']),
      turnOf([' a ', 'It costs 12 euros.', 'b', 'B']),
    )
    expect(placed[1]).toMatchObject({ conversationId: 0, follows: 1, given: null })
  })

  test('of an edited history keeps the messages that no stored turn has', async () => {
    const placed = await placeAll(
      turnOf(['a', 'A']),
      turnOf(['a', 'A', 'b', 'edited', 'c', 'C']),
      turnOf(['x', 'Y', 'c', 'C']),
    )
    expect(placed[1]).toEqual({
      conversationId: 0,
      number: 2,
      follows: 1,
      given: { texts: ['b', 'edited'], leftOut: 0 },
    })
    expect(placed[2]).toEqual({ conversationId: 1, number: 1, follows: null, given: { texts: ['x', 'Y'], leftOut: 0 } })
  })

  test('of another user never joins, also with the same messages', async () => {
    const placed = await placeAll(
      turnOf(['a', 'A'], { user: 'one' }),
      turnOf(['a', 'A', 'b', 'B'], { user: 'two' }),
      turnOf(['a', 'A', 'b', 'B']),
    )
    expect(placed.map(({ conversationId }) => conversationId)).toEqual([0, 1, 2])
  })

  test('of visitors who began alike continues a conversation that nothing continues yet', async () => {
    const placed = await placeAll(
      turnOf(['hi', 'Hello']),
      turnOf(['hi', 'Hello']),
      turnOf(['hi', 'Hello', 'b', 'B']),
      turnOf(['hi', 'Hello', 'c', 'C']),
      turnOf(['hi', 'Hello', 'd', 'D']),
    )
    expect(placed.map(({ conversationId, number, follows }) => [conversationId, number, follows])).toEqual([
      [0, 1, null],
      [1, 1, null],
      [1, 2, 1],
      [0, 2, 1],
      // Both are continued: a branch of the newer one.
      [1, 3, 1],
    ])
  })

  test('with a long history of which nothing is stored keeps its last messages within the limit', async () => {
    const history = Array.from({ length: 200 }, (_none, index) => `${index} ${'x'.repeat(3_000)}`)
    const [placed] = await placeAll(turnOf([...history, 'q', 'A']))
    expect(placed!.given!.texts).toHaveLength(21)
    expect(placed!.given!.leftOut).toBe(179)
    expect(placed!.given!.texts.at(-1)).toBe(history.at(-1))
  })

  test('keeps the beginning of texts above the limit, as PostgreSQL can store it', async () => {
    const turn = await turnOf([`${'€'.repeat(200_000)}`, `\0\ud800${'a'.repeat(70_000)}`])
    expect([turn.question, turn.questionCut]).toEqual(['€'.repeat(21_845), true])
    expect([turn.answer.slice(0, 3), turn.answer.isWellFormed(), turn.answerCut]).toEqual(['��a', true, true])
  })
})

describe('digests', () => {
  test('of the largest request let other work run', async () => {
    const messages = Array.from({ length: 150 }, (_none, index): Message => ({
      role: index % 2 ? 'assistant' : 'user',
      content: `${index} ${' \n[1]'.repeat(40_000)}`,
    }))
    let pauses = 0
    const countPauses = () => {
      pauses++
      next = setImmediate(countPauses)
    }
    let next = setImmediate(countPauses)
    await digestConversation(messages, null)
    clearImmediate(next)
    // A message takes about 2 ms, and work pauses after 8 ms.
    expect(pauses).toBeGreaterThan(10)
  })

  test('differ by role and by the border between messages', () => {
    const of = (...messages: Message[]) => messages.reduce(continueChain, '')
    const digests = [
      of({ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }),
      of({ role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }),
      of({ role: 'user', content: 'a assistant b' }),
    ]
    expect(new Set(digests).size).toBe(3)
  })
})

describe('waiting turns', () => {
  test('of a flood take no place of other organisations', async () => {
    const waiting = createWaitingTurns(10_000)
    const turn = async (organisationId: string) => turnOf(['q', 'A'], { organisationId, bytes: 1_000 })
    let dropped = 0
    for (let index = 0; index < 50; index++) dropped += waiting.add(await turn('flood'))
    for (let index = 0; index < 4; index++) dropped += waiting.add(await turn(`small ${index}`))
    dropped += waiting.add(await turn('flood'))
    for (let index = 4; index < 8; index++) dropped += waiting.add(await turn(`small ${index}`))
    expect(waiting.bytes()).toBeLessThanOrEqual(10_000)
    expect(waiting.organisations()).toHaveLength(9)
    expect(dropped).toBe(51 + 8 - 10)
  })

  test('are taken by Space, in their order, and stay until they are removed', async () => {
    const waiting = createWaitingTurns(1_000_000)
    const turns = await Promise.all(['a', 'b', 'a', 'a'].map((spaceId) => turnOf(['q', 'A'], { spaceId, bytes: 10 })))
    for (const turn of turns) waiting.add(turn)
    expect(waiting.next('o', { turns: 2, bytes: 100 })).toEqual([turns[0], turns[2]])
    waiting.remove('o', [turns[0]!, turns[2]!])
    expect(waiting.next('o', { turns: 2, bytes: 100 })).toEqual([turns[1]])
    waiting.remove('o', [turns[1]!, turns[3]!])
    expect([waiting.bytes(), waiting.organisations()]).toEqual([0, []])
  })
})
