import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUuid } from '../../../platform/kernel/index.ts'
import { given, openConversationStage, startMs, type ConversationStage } from '../testing/conversation-stage.ts'
import { conversationLimits } from '../limits.ts'
import { ownLimits, titleOf } from './own-turns.store.ts'

/** What is stored of people in the console, how long, and its bounds. */

let stage: ConversationStage
let personId: string
let organisationId: string
beforeAll(async () => {
  stage = await openConversationStage()
})
afterAll(() => stage.drop())
beforeEach(async () => {
  await stage.beginTest()
  const [space] = await query<{ organisationId: string }>(
    `SELECT organisation_id AS "organisationId" FROM spaces WHERE id = $1`,
    [stage.spaceId()],
  )
  organisationId = space!.organisationId
  personId = await createMember()
})

const query = <Row extends object>(text: string, values: unknown[] = []) =>
  stage.databases.control.query<Row>(text, values as never)
const execute = (text: string, values: unknown[] = []) => stage.databases.control.execute(text, values as never)

async function createMember(): Promise<string> {
  const id = createUuid(startMs)
  await execute(
    `INSERT INTO people (id, name, email, email_verified, is_operator, created_at, updated_at) VALUES ($1, 'P', $2, false, false, now(), now())`,
    [id, `${id}@example.org`],
  )
  await execute(
    `INSERT INTO people_memberships (organisation_id, person_id, role, created_at) VALUES ($1, $2, 'member', now())`,
    [organisationId, id],
  )
  return id
}

let requests = 0
/** A service with a question of a person; `ask` stores it with its answer. */
function start() {
  const { clock, service } = stage.start()
  return {
    clock,
    service,
    async ask(chatId: string, content = 'Q', text = 'A', owner = personId) {
      const asked = { requestId: `own_${++requests}`, organisationId, spaceId: stage.spaceId(), user: null, model: 'm' }
      service.begin({ ...asked, messages: [{ role: 'user', content }], chat: { id: chatId, personId: owner } })({
        ...given,
        text,
      })
      await service.flush()
    },
  }
}

const chats = () =>
  query<{ id: string; turns: number; bytes: bigint }>(
    `SELECT id, turns, bytes FROM own_chats WHERE space_id = $1 ORDER BY last_at, id`,
    [stage.spaceId()],
  )
const turnsOf = (id: string) => query<{ number: number }>(`SELECT number FROM own_chat_turns WHERE chat_id = $1`, [id])

describe('the conversations of a person', () => {
  it('lose what is older than the Space keeps, and end with their last answer', async () => {
    const { clock, service, ask } = start()
    const [id, old] = [crypto.randomUUID(), crypto.randomUUID()]
    await ask(id, 'first')
    await ask(old)
    await clock.advance(9 * 86_400_000)
    await ask(id, 'second')
    await clock.advance(2 * 86_400_000)
    await service.sweep()
    expect(await chats()).toMatchObject([{ id, turns: 1 }])
    expect(await turnsOf(id)).toEqual([{ number: 2 }])
    expect(await turnsOf(old)).toEqual([])
  })

  it.each([
    [
      'the Space keeps no conversations',
      () => execute(`UPDATE spaces SET settings = '{}' WHERE id = $1`, [stage.spaceId()]),
    ],
    [
      'the person has left the organisation',
      () => execute(`DELETE FROM people_memberships WHERE person_id = $1`, [personId]),
    ],
    ['the account was deleted', () => execute(`DELETE FROM people WHERE id = $1`, [personId])],
    ['the Space was deleted', () => execute(`DELETE FROM spaces WHERE id = $1`, [stage.spaceId()])],
  ])('are deleted where %s, and nothing more is stored', async (_case, change) => {
    const { service, ask } = start()
    const id = crypto.randomUUID()
    await ask(id)
    expect(await turnsOf(id)).toHaveLength(1)
    await change()
    await service.sweep()
    expect(await turnsOf(id)).toEqual([])
    expect(await query(`SELECT id FROM own_chats WHERE id = $1`, [id])).toEqual([])
  })

  it('are not those of another person with the same id', async () => {
    const { ask } = start()
    const id = crypto.randomUUID()
    await ask(id, 'mine')
    await ask(id, 'not mine', 'A', await createMember())
    expect(await query(`SELECT question FROM own_chat_turns WHERE chat_id = $1`, [id])).toEqual([{ question: 'mine' }])
  })

  it('lose their oldest answers above the limits of a conversation, and the oldest conversations above those of a person', async () => {
    const { ask, clock } = start()
    const [id, other] = [crypto.randomUUID(), crypto.randomUUID()]
    await ask(other)
    await clock.advance(1_000)
    await ask(id)
    await execute(`UPDATE own_chats SET turns = $2 WHERE id = $1`, [id, conversationLimits.turnsPerConversation + 1])
    await execute(
      `INSERT INTO own_chat_turns SELECT chat_id, number + n, request_id || n, at, question, question_cut, answer, answer_cut, cited, sources,
         model, total_ms, outcome, error_code, bytes FROM own_chat_turns, generate_series(1, $2::int4) n WHERE chat_id = $1`,
      [id, conversationLimits.turnsPerConversation],
    )
    await execute(`UPDATE own_chats SET last_number = turns WHERE id = $1`, [id])
    await ask(id, 'newest')
    const numbers = (await turnsOf(id)).map(({ number }) => number)
    expect(numbers).toHaveLength(conversationLimits.turnsPerConversation)
    expect(Math.min(...numbers)).toBe(3)
    await execute(`UPDATE own_chats SET bytes = $2 WHERE id = $1`, [other, ownLimits.bytes])
    await ask(id, 'one more')
    expect((await chats()).map((chat) => chat.id)).toEqual([id])
  })
})

describe('a title', () => {
  it.each([
    ['What does a ticket cost?', 'What does a ticket cost?'],
    ['  Two\n\n lines ', 'Two lines'],
    [`${'word '.repeat(30)}end`, `${'word '.repeat(16).trim()}…`],
    ['x'.repeat(300), `${'x'.repeat(80)}…`],
    [' ', '…'],
  ])('of %j is %j', (question, title) => {
    expect(titleOf(question)).toBe(title)
  })
})
