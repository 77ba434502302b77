import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { goldenLimits } from '../../src/contract/golden-questions.ts'
import { hastyClock } from '../harness/hasty-clock.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
} from '../harness/portico.ts'

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let member: Browser
let administrator: Browser

beforeAll(async () => {
  portico = await startPortico({ clock: hastyClock })
  organisation = await portico.createOrganisation()
  const person = { organisationId: organisation.id }
  member = await createPerson(portico, { email: 'm@example.org', ...person })
  administrator = await createPerson(portico, { email: 'a@example.org', role: 'administrator', ...person })
})
afterAll(() => portico?.stop())
beforeEach(async () => {
  space = await portico.createSpace(organisation)
})

const pathOf = ({ id }: TestSpace) => `/api/spaces/${id}/golden-questions`
const ask = (content: string) => [{ role: 'user', content }]
const add = (body: object, target = space) => member.call('POST', pathOf(target), body)
const list = async (query = '') => expectStatus(await member.call('GET', pathOf(space) + query), 200)

const exported = async (target = space) => expectStatus(await member.call('GET', `${pathOf(target)}/export`), 200)
const importInto = (questions: object[], target = space) =>
  member.call('POST', `${pathOf(target)}/import`, { questions })
const imported = (added: number, existing: number) => ({ added, existing, refused: [] })
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ messages: ask(`Question ${index}?`) }))

async function fill(count: number): Promise<void> {
  await portico.service.control.execute(
    `INSERT INTO golden_questions SELECT gen_random_uuid(), $1, $2, '[{"role": "user", "content": "x"}]', 'x', '\\x00',
       decode(md5(n::text), 'hex'), '[]', '[]', false, now(), now() FROM generate_series(1, $3::int4) AS n`,
    [space.id, organisation.id, count],
  )
}

async function upload(name: string, target = space): Promise<string> {
  const form = uploadForm(`The text of ${name}.`, name)
  return expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${target.id}`, form), 201).id
}

describe('a golden question', () => {
  it('is stored with documents given by id and by name', async () => {
    const ids = [await upload('one.txt'), await upload('two.txt')]
    const messages = [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi' }, ...ask('What is one?')]
    const given = {
      messages,
      expectedDocuments: [{ id: ids[0]!.toUpperCase() }, { name: 'two.txt' }, { name: 'one.txt' }],
      expectedFacts: ['12 euros'],
    }
    const answer = await add(given)
    const created = expectStatus(answer, 201)
    expect(answer.headers.get('location')).toBe(`${pathOf(space)}/${created.id}`)
    expect(created).toMatchObject({
      spaceId: space.id,
      messages,
      expectedDocuments: [
        { id: ids[0], name: 'one.txt', exists: true },
        { id: ids[1], name: 'two.txt', exists: true },
      ],
      expectedFacts: ['12 euros'],
      mustAbstain: false,
    })
    expect((await member.call('GET', `${pathOf(space)}/${created.id}`)).body).toEqual(created)
    expect(await list()).toMatchObject({ total: 1, maximum: goldenLimits.questionsPerSpace, items: [created] })
  })

  it('keeps the name of a deleted document, and stays changeable', async () => {
    const id = await upload('gone.txt')
    const created = expectStatus(await add({ messages: ask('What?'), expectedDocuments: [{ id }] }), 201)
    expect((await organisation.client('DELETE', `/v1/documents/${id}`)).status).toBe(204)
    const path = `${pathOf(space)}/${created.id}`
    const expectedDocuments = [{ id, name: 'gone.txt', exists: false }]
    expect((await member.call('GET', path)).body).toMatchObject({ expectedDocuments })
    const change = { expectedDocuments: [{ id }], expectedFacts: ['a fact'] }
    expect((await member.call('PATCH', path, change)).body).toMatchObject({
      expectedDocuments,
      expectedFacts: ['a fact'],
    })
  })

  it('is found by a part of its text that is no pattern', async () => {
    for (const text of ['Is 100% enough?', 'Is 1000 enough?']) expectStatus(await add({ messages: ask(text) }), 201)
    expect((await list('?search=100%25')).items).toMatchObject([{ messages: ask('Is 100% enough?') }])
    expect((await list('?search=ENOUGH&limit=1&offset=1')).items).toMatchObject([{ messages: ask('Is 1000 enough?') }])
  })

  it('is changed field by field and deleted', async () => {
    const created = expectStatus(await add({ messages: ask('Why?'), expectedFacts: ['x'] }), 201)
    const path = `${pathOf(space)}/${created.id}`
    const changed = expectStatus(await member.call('PATCH', path, { messages: ask('How?') }), 200)
    expect(changed).toMatchObject({ messages: ask('How?'), expectedFacts: ['x'], createdAt: created.createdAt })
    expect((await member.call('DELETE', path)).status).toBe(204)
    expect((await member.call('DELETE', path)).status).toBe(404)
    expect((await list()).total).toBe(0)
  })

  it('is a conversation that the Space has once', async () => {
    const { id } = expectStatus(await add({ messages: ask('Why?') }), 201)
    const other = expectStatus(await add({ messages: ask('How?') }), 201)
    expect((await add({ messages: ask('Why?') })).body.error).toMatchObject({ code: 'conflict', param: 'messages' })
    const change = (target: string) => member.call('PATCH', `${pathOf(space)}/${target}`, { messages: ask('Why?') })
    expect((await change(other.id)).status).toBe(409)
    expect((await change(id)).status).toBe(200)
    expect((await add({ messages: ask('Why?') }, await portico.createSpace(organisation))).status).toBe(201)
  })

  it.each([
    ['without messages', { messages: [] }, 'messages'],
    ['that ends with an answer', { messages: [{ role: 'assistant', content: 'Hi' }] }, 'messages'],
    ['that is blank', { messages: ask(' \n') }, 'messages'],
    ['that is too long', { messages: ask('x'.repeat(goldenLimits.messageCharacters + 1)) }, 'messages.0.content'],
    [
      'whose turns are too long together',
      { messages: [...ask('x'.repeat(goldenLimits.messageCharacters)), ...ask('y')] },
      'messages',
    ],
    ['with too many facts', { messages: ask('?x'), expectedFacts: Array(21).fill('a') }, 'expectedFacts'],
    ['with a fact of signs', { messages: ask('?x'), expectedFacts: ['a', '…'] }, 'expectedFacts.1'],
    ['with a fact and abstention', { messages: ask('?x'), expectedFacts: ['a'], mustAbstain: true }, 'mustAbstain'],
    ['with an unnamed document', { messages: ask('?x'), expectedDocuments: [{}] }, 'expectedDocuments.0'],
    [
      'with an unknown document',
      { messages: ask('?x'), expectedDocuments: [{ name: 'a' }] },
      'expectedDocuments.0.name',
    ],
    ['with an unknown field', { messages: ask('?x'), mustAbstian: true }, null],
  ])('%s is refused with the field', async (_, body, param) => {
    const { status, body: answer } = await add(body)
    expect([status, answer.error?.param]).toEqual([400, param])
  })

  it('does not accept documents of another Space', async () => {
    const id = await upload('other.txt', await portico.createSpace(organisation))
    const { status, body } = await add({ messages: ask('What?'), expectedDocuments: [{ id }] })
    expect([status, body.error.param]).toEqual([400, 'expectedDocuments.0.id'])
  })

  it('is not reachable through another Space', async () => {
    const { id } = expectStatus(await add({ messages: ask('What?') }), 201)
    const path = `${pathOf(await portico.createSpace(organisation))}/${id}`
    for (const [method, body] of [['GET'], ['PATCH', { mustAbstain: true }], ['DELETE']] as const)
      expect((await member.call(method, path, body)).body.error).toMatchObject({ code: 'not_found' })
  })
})

describe('the golden questions of a Space', () => {
  it('have a limit that concurrent requests do not exceed', async () => {
    await fill(goldenLimits.questionsPerSpace - 1)
    const answers = await Promise.all(['a', 'b', 'c'].map((text) => add({ messages: ask(text) })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
    expect((await list()).total).toBe(goldenLimits.questionsPerSpace)
  })

  it('are deleted with the Space', async () => {
    expectStatus(await add({ messages: ask('What?') }), 201)
    expect((await portico.operator('DELETE', `/api/spaces/${space.id}`)).status).toBe(204)
    expect((await member.call('GET', pathOf(space))).body.error.code).toBe('space_not_found')
    const rows = await portico.service.control.query(`SELECT 1 FROM golden_questions WHERE space_id = $1`, [space.id])
    expect(rows).toEqual([])
  })
})

describe('an export', () => {
  it('can be imported into another Space, with its order, documents and facts', async () => {
    const other = await portico.createSpace(organisation)
    const [here, there] = [await upload('one.txt'), await upload('one.txt', other)]
    const file = {
      questions: [
        { messages: ask('First?'), expectedDocuments: [{ id: here, name: 'one.txt' }], expectedFacts: ['“12”\n€'] },
        ...numbered(60).map((question) => ({ ...question, expectedDocuments: [], expectedFacts: [] })),
      ].map((question) => ({ ...question, mustAbstain: false })),
    }
    expectStatus(await importInto(file.questions), 200)
    expect(await exported()).toEqual(file)
    expect((await importInto(file.questions, other)).body).toEqual(imported(61, 0))
    file.questions[0]!.expectedDocuments = [{ id: there, name: 'one.txt' }]
    expect(await exported(other)).toEqual(file)
  })

  it('is empty for a Space without questions', async () => {
    expect(await exported()).toEqual({ questions: [] })
  })

  it('of a Space can be imported into it again, also after a document was deleted', async () => {
    const id = await upload('gone.txt')
    expectStatus(await add({ messages: ask('What?'), expectedDocuments: [{ id }] }), 201)
    expect((await organisation.client('DELETE', `/v1/documents/${id}`)).status).toBe(204)
    const file = await exported()
    expect(file.questions).toMatchObject([{ expectedDocuments: [{ id, name: 'gone.txt' }] }])
    expect((await importInto(file.questions)).body).toEqual(imported(0, 1))
  })
})

describe('an import', () => {
  it('leaves out and counts conversations that the Space has or the body repeats', async () => {
    expectStatus(await add({ messages: ask('Question 1?'), expectedFacts: ['kept'] }), 201)
    const answer = await importInto([...numbered(3), { ...numbered(1)[0], expectedFacts: ['repeated'] }])
    expect([answer.status, answer.body]).toEqual([200, imported(2, 2)])
    const { questions } = await exported()
    expect(questions.map((question: { expectedFacts: string[] }) => question.expectedFacts)).toEqual([['kept'], [], []])
  })

  it('that adds something is in the admin log with its counts', async () => {
    expectStatus(await importInto(numbered(2)), 200)
    expectStatus(await importInto(numbered(2)), 200)
    const query = `?action=golden_questions.imported&subjectId=${space.id}`
    const { items } = expectStatus(await portico.operator('GET', `/api/admin-log${query}`), 200)
    expect(items).toMatchObject([{ subjectType: 'space', after: { added: 2, existing: 0 } }])
  })

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: ask('?x'), expectedDocuments: [{ name: 'a.txt' }] }, 'expectedDocuments.0.name'],
    [{ messages: ask('?x'), expectedFacts: ['a'], mustAbstain: true }, 'mustAbstain'],
  ])('with the question %j adds none and names its index and field', async (question, field) => {
    const { status, body } = await importInto([...numbered(3), question])
    expect([status, body.error?.param]).toEqual([400, `questions.3.${field}`])
    expect(body.error.message).toContain(`questions.3.${field}`)
    expect((await list()).total).toBe(0)
  })

  it('does not accept documents of another Space', async () => {
    const id = await upload('other.txt', await portico.createSpace(organisation))
    const { status, body } = await importInto([{ messages: ask('What?'), expectedDocuments: [{ id }] }])
    expect([status, body.error?.param]).toEqual([400, 'questions.0.expectedDocuments.0.id'])
  })

  it('fills a Space up to its limit, and adds none above it', async () => {
    await fill(goldenLimits.questionsPerSpace - 2)
    const { status, body } = await importInto(numbered(3))
    expect([status, body.error?.param]).toEqual([409, 'questions'])
    expect((await list()).total).toBe(goldenLimits.questionsPerSpace - 2)
    expect((await importInto(numbered(2))).body).toEqual(imported(2, 0))
    expect((await importInto(numbered(2))).body).toEqual(imported(0, 2))
  })

  it('has at most as many questions as a Space', async () => {
    const { status, body } = await importInto(numbered(goldenLimits.questionsPerSpace + 1))
    expect([status, body.error?.param]).toEqual([400, 'questions'])
    expect((await importInto(numbered(goldenLimits.questionsPerSpace))).status).toBe(200)
  })

  it('adds each conversation once, also at the same time as another import', async () => {
    const answers = await Promise.all([importInto(numbered(20)), importInto(numbered(30).toReversed())])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.reduce((sum, { body }) => sum + body.added, 0)).toBe(30)
    expect((await list()).total).toBe(30)
  })
})

describe('candidates', () => {
  it('are unanswered questions that are kept and are not golden questions', async () => {
    const candidates = async () => expectStatus(await administrator.call('GET', `${pathOf(space)}/candidates`), 200)
    expect(await candidates()).toMatchObject({ total: 0, isKept: false, items: [] })
    const settings = { keepUnansweredQuestions: true }
    expectStatus(await administrator.call('PATCH', `/api/spaces/${space.id}`, { settings }), 200)
    for (const content of ['Where is the exit?', 'Who sells tickets?', 'where  is the exit?'])
      expectStatus(
        await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages: ask(content) }),
        200,
      )
    // Questions are stored after their answers.
    await expect.poll(candidates, { timeout: 20_000 }).toMatchObject({
      total: 2,
      isKept: true,
      items: [{ asked: 2 }, { question: 'Who sells tickets?', asked: 1 }],
    })
    expectStatus(await add({ messages: ask('WHERE is the exit?') }), 201)
    expect(await candidates()).toMatchObject({ total: 1, items: [{ question: 'Who sells tickets?' }] })
    expect((await member.call('GET', `${pathOf(space)}/candidates`)).status).toBe(403)
  })
})

describe('the settings', () => {
  const change = (body: object) => administrator.call('PATCH', `${pathOf(space)}/settings`, body)

  it('have defaults, and absent fields keep their values', async () => {
    const defaults = expectStatus(await member.call('GET', `${pathOf(space)}/settings`), 200)
    expect(defaults).toEqual({
      schedule: null,
      nextRunAt: null,
      version: expect.any(String),
      maximumCostUsd: 10,
      agentic: false,
      filter: null,
      passing: { retrievalRecall: 1, citationPrecision: 0, citationRecall: 1, factShare: 1 },
      gate: null,
    })
    expectStatus(await change({ passing: { factShare: 0.5 }, gate: { passedShare: 0.9 } }), 200)
    const changed = expectStatus(await change({ maximumCostUsd: null, schedule: { every: 'day', time: '02:30' } }), 200)
    expect(changed).toMatchObject({
      schedule: { every: 'day', time: '02:30' },
      maximumCostUsd: null,
      passing: { ...defaults.passing, factShare: 0.5 },
      gate: { passedShare: 0.9 },
    })
    expect(Date.parse(changed.nextRunAt)).toBeGreaterThan(Date.now())
    expect((await member.call('GET', `${pathOf(space)}/settings`)).body).toEqual(changed)
    expect((await change({ schedule: null, gate: null })).body).toMatchObject({ nextRunAt: null, gate: null })
  })

  it.each([
    [{ gate: {} }, 'gate'],
    [{ gate: { passedShare: 1.1 } }, 'gate.passedShare'],
    [{ schedule: { every: 'day', time: '24:00' } }, 'schedule.time'],
    [{ schedule: { every: 'week', weekday: 8, time: '01:00' } }, 'schedule.weekday'],
    [{ maximumCostUsd: -1 }, 'maximumCostUsd'],
    [{}, null],
  ])('refuse %j with the field', async (body, param) => {
    const answer = await change(body)
    expect([answer.status, answer.body.error?.param]).toEqual([400, param])
  })
})
