import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConversationStage, openConversationStage, startMs } from './testing/conversation-stage.ts'

let stage: ConversationStage
beforeAll(async () => {
  stage = await openConversationStage()
})
beforeEach(() => stage.beginTest())
afterAll(() => stage.drop())

describe('an erasure', () => {
  async function fill() {
    const started = stage.start()
    for (const user of ['one', 'two', null]) {
      for (let turn = 0; turn < 3; turn++) started.answer([`${user} ${turn}`, 'A'], { user })
      started.answer([`${user} 0`, 'A', 'more', 'B'], { user })
    }
    await started.service.flush()
    return started
  }
  const logged = async () =>
    (
      await stage.databases.control.query<{ before: unknown }>(
        `SELECT before FROM admin_log WHERE action = 'conversations.removed' AND subject_id = $1 ORDER BY at`,
        [stage.spaceId()],
      )
    ).map(({ before }) => before)

  test('of a user removes all of the user and nothing else, and states how much', async () => {
    const { erase, list, exported } = await fill()
    expect(await erase({ scope: 'user', user: 'one' })).toEqual({ conversations: 3, turns: 4 })
    expect(await erase({ scope: 'user', user: 'one' })).toEqual({ conversations: 0, turns: 0 })
    expect((await list({ user: 'one' })).items).toEqual([])
    expect((await list()).stored).toMatchObject({ conversations: 6, turns: 8 })
    expect(await exported()).not.toContain('one')
    expect(await logged()).toEqual([{ scope: 'user', conversations: 3, turns: 4 }])
    await stage.expectSums()
  })

  test('of a conversation or a time range is as exact', async () => {
    const { erase, list, answer, clock } = await fill()
    const { items } = await list({ search: 'more' })
    expect(await erase({ scope: 'conversation', conversationId: items[0]!.id })).toEqual({ conversations: 1, turns: 2 })
    clock.jump(60_000)
    answer(['null 1', 'A', 'a later question', 'B'])
    const to = new Date(startMs + 60_000)
    expect(await erase({ scope: 'time', from: new Date(startMs), to })).toEqual({ conversations: 7, turns: 10 })
    expect((await list()).items).toMatchObject([{ opening: 'a later question', turns: 1 }])
    await stage.expectSums()
  })

  test('of everything hides it at once; later answers begin a new one', async () => {
    const { erase, list, answer, service } = await fill()
    expect(await erase({ scope: 'space' })).toEqual({ conversations: 9, turns: 12 })
    expect((await list()).items).toEqual([])
    answer(['null 0', 'A', 'after', 'B'])
    await service.flush()
    expect((await list()).items).toMatchObject([{ opening: 'after', turns: 1 }])
    await service.sweep()
    expect((await list()).stored.turns).toBe(1)
    expect(await logged()).toEqual([{ scope: 'space', conversations: 9, turns: 12 }])
  })

  test('of more than one batch removes all', async () => {
    const { answer, service, erase, list } = stage.start()
    for (let turn = 0; turn < 1_100; turn++) answer([`question ${turn}`, 'A'], { user: 'flood' })
    answer(['stays', 'A'])
    await service.flush()
    expect(await erase({ scope: 'user', user: 'flood' })).toEqual({ conversations: 1_100, turns: 1_100 })
    expect((await list()).items).toMatchObject([{ opening: 'stays' }])
  })
})

describe('an export', () => {
  test('has every turn of a user, and only those', async () => {
    const { answer, service, exported } = stage.start()
    for (let turn = 0; turn < 3; turn++) answer([`mine ${turn}`, 'A'], { user: 'one' })
    answer(['of another', 'A'], { user: 'two' })
    await service.flush()
    const lines = (await exported('jsonl', { user: 'one' }))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ question, user }) => [question, user]).toSorted()).toEqual([
      ['mine 0', 'one'],
      ['mine 1', 'one'],
      ['mine 2', 'one'],
    ])
  })

  test('in pages has every turn once, whatever their size', async () => {
    const { answer, service, exported } = stage.start()
    for (let turn = 0; turn < 60; turn++) answer([`${turn} ${'x'.repeat(turn % 2 ? 10 : 65_000)}`, 'A'])
    await service.flush()
    const lines = (await exported())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { question: string })
    expect(new Set(lines.map(({ question }) => question.split(' ')[0])).size).toBe(60)
    expect(lines).toHaveLength(60)
  })

  test('as CSV has no cell that a spreadsheet runs as a formula', async () => {
    const { answer, service, exported } = stage.start()
    answer(['=HYPERLINK("https://evil.example")', '+1\n"x"'], { user: '@user' })
    await service.flush()
    const csv = await exported('csv')
    expect(csv).toContain(`,'@user,`)
    expect(csv).toContain(`,"'=HYPERLINK(""https://evil.example"")","'+1\n""x""",`)
  })
})
