import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GoldenRunBody } from '../../src/contract/golden-runs.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** Runs of golden questions with a scripted model, whose answer depends on the question. */

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let space: TestSpace
let member: Browser
let administrator: Browser
let ticketsId: string
/** Questions that reached the model. */
let asked: string[] = []
/** Replies to questions that contain a text; the others are answered with "Yes." */
let replies: Record<string, string | number | Promise<string>> = {}

const noAnswer = 'The files do not contain an answer to this question.'
const ticketAnswer = 'A ticket for adults costs 12 euros [1].'

beforeAll(async () => {
  upstream = await startUpstream(async ({ body }) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] }
    const question = messages.at(-1)!.content.split('\n').at(-1)!
    asked.push(question)
    const found = Object.entries(replies).find(([part]) => question.includes(part))
    return render(await (found ? found[1] : 'Yes.'))
  })
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us', models: 'declared' },
      ],
      models: [{ id: 'large', maxOutputTokens: 1_000, contextTokens: 200_000, deployments }],
    },
  })
  organisation = await portico.createOrganisation()
  const person = { organisationId: organisation.id }
  member = await createPerson(portico, { email: 'm@example.org', ...person })
  administrator = await createPerson(portico, { email: 'a@example.org', role: 'administrator', ...person })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(async () => {
  asked = []
  replies = { ticket: ticketAnswer }
  space = await createFilledSpace()
})

function render(content: string | number): UpstreamReply {
  if (typeof content === 'number')
    return { status: content, headers: { 'content-type': 'application/json' }, body: '{"error":{"message":"no"}}' }
  return scriptedTurn(content, 1_000, 100)
}

async function createFilledSpace(): Promise<TestSpace> {
  const made = await portico.createSpace(organisation, { model: 'large', settings: { maximumPassages: 2 } })
  const files = { 'tickets.txt': 'A ticket for adults costs 12 euros.', 'herons.txt': 'Herons live at the pond.' }
  for (const [name, text] of Object.entries(files)) {
    const id = await uploadReady(organisation, made.id, text, name)
    if (name === 'tickets.txt') ticketsId = id
  }
  return made
}

const base = () => `/api/spaces/${space.id}`
const ask = (content: string) => [{ role: 'user', content }]
const add = async (body: object) => expectStatus(await member.call('POST', `${base()}/golden-questions`, body), 201)
const addTicket = () =>
  add({ messages: ask('What does a ticket cost?'), expectedDocuments: [{ id: ticketsId }], expectedFacts: ['€12'] })
const start = async (): Promise<GoldenRunBody> => expectStatus(await member.call('POST', `${base()}/golden-runs`), 202)
const load = async (id: string): Promise<GoldenRunBody> =>
  expectStatus(await member.call('GET', `${base()}/golden-runs/${id}`), 200)
const resultsOf = async (id: string, query = '') =>
  expectStatus(await member.call('GET', `${base()}/golden-runs/${id}/results${query}`), 200)
const settings = async (body: object) =>
  expectStatus(await administrator.call('PATCH', `${base()}/golden-questions/settings`, body), 200)

async function ended(id: string): Promise<GoldenRunBody> {
  await expect.poll(async () => (await load(id)).endedAt, { timeout: 60_000 }).not.toBeNull()
  return load(id)
}
const run = async () => ended((await start()).id)

describe('a run', () => {
  it('measures answers, citations and abstention', async () => {
    replies = { ...replies, dodo: noAnswer, heron: 'Herons live in 13 towers.' }
    const ticket = await addTicket()
    await add({ messages: ask('Where do the dodos live?'), mustAbstain: true })
    await add({
      messages: ask('Where do herons live?'),
      expectedFacts: ['at the pond'],
      expectedDocuments: [{ name: 'herons.txt' }],
    })
    const begun = await start()
    expect(begun).toMatchObject({ trigger: 'manual', startedBy: 'm@example.org', model: 'large', comparison: null })
    const done = await ended(begun.id)
    expect(done).toMatchObject({
      state: 'completed',
      reason: null,
      isCurrent: true,
      questions: { total: 3, pending: 0, passed: 2, failed: 1, error: 0, skipped: 0 },
      measures: {
        passedShare: 0.6667,
        retrievalHitRate: 1,
        retrievalRecall: 1,
        citationPrecision: 0.5,
        citationRecall: 0.5,
        factShare: 0.5,
        abstentionAccuracy: 1,
      },
      // 3 calls of 1000 and 100 tokens, at 1 and 2 dollars per million.
      costUsd: '0.0036',
    })
    const { items, total } = await resultsOf(begun.id)
    expect(total).toBe(3)
    expect(items[0]).toMatchObject({
      questionId: ticket.id,
      outcome: 'passed',
      failedMeasures: [],
      answer: ticketAnswer,
      expectedDocuments: [{ id: ticketsId, name: 'tickets.txt', rank: expect.any(Number), isCited: true }],
      expectedFacts: [{ text: '€12', isFound: true }],
      citedDocuments: [{ id: ticketsId, name: 'tickets.txt' }],
      measures: { retrievalHit: true, citationPrecision: 1, factShare: 1, isAbstention: false },
      costUsd: '0.0012',
    })
    const receipt = await administrator.call('GET', `/api/usage/${items[0].requestId}`)
    expect(expectStatus(receipt, 200)).toMatchObject({ surface: 'space_chat', spaceId: space.id })
    expect(items[1]).toMatchObject({ outcome: 'passed', measures: { isAbstention: true, factShare: null } })
    expect(items[2]).toMatchObject({ outcome: 'failed', failedMeasures: ['citationRecall', 'factShare'] })
    expect((await resultsOf(begun.id, '?only=not_passed')).items).toEqual([items[2]])
  })

  it('counts an answer where abstention is right, and abstention where an answer is right, as failed', async () => {
    replies = { ticket: noAnswer, dodo: 'Dodos live on the roof.' }
    await addTicket()
    await add({ messages: ask('Where do the dodos live?'), mustAbstain: true })
    const done = await run()
    expect(done).toMatchObject({ questions: { failed: 2 }, measures: { abstentionAccuracy: 0, passedShare: 0 } })
    const { items } = await resultsOf(done.id)
    expect(items.map(({ failedMeasures }: { failedMeasures: string[] }) => failedMeasures)).toEqual([
      ['abstention', 'citationRecall', 'factShare'],
      ['abstention'],
    ])
  })

  it('is compared with the completed run before it', async () => {
    await addTicket()
    await add({ messages: ask('Is it open?') })
    replies = { ticket: ticketAnswer, open: noAnswer }
    const first = await run()
    replies = { ticket: 'A ticket for adults costs 13 euros.', open: 'It is open.' }
    const second = await run()
    expect(second.comparison).toEqual({ runId: first.id, worse: 1, better: 1, measures: first.measures })
    const { items } = await resultsOf(second.id, '?only=worse')
    expect(items).toMatchObject([
      { outcome: 'failed', previous: 'passed', failedMeasures: ['citationRecall', 'factShare'] },
    ])
    const page = expectStatus(await member.call('GET', `${base()}/golden-runs?limit=1`), 200)
    expect(page).toMatchObject({ total: 2, items: [{ id: second.id, comparison: second.comparison }] })
  })

  it('that a schedule started and that got worse is counted, sent to the webhook and shown until it is repaired', async () => {
    await addTicket()
    await add({ messages: ask('Is it open?') })
    await run()
    const held = Promise.withResolvers<string>()
    replies = { ticket: held.promise }
    const begun = await start()
    await portico.service.control.execute(`UPDATE golden_runs SET run_trigger = 'schedule' WHERE id = $1`, [begun.id])
    held.resolve('A ticket for adults costs 13 euros.')
    const worse = await ended(begun.id)

    const metrics = await (await fetch(portico.metricsUrl)).text()
    expect(metrics).toContain('portico_golden_runs_total{trigger="schedule",outcome="worse"} 1')
    const events = await portico.service.control.query<{ body: string }>(
      `SELECT body FROM ledger_outbox WHERE kind = 'golden_run.got_worse' AND organisation_id = $1`,
      [organisation.id],
    )
    expect(events.map(({ body }) => JSON.parse(body) as object)).toEqual([
      {
        id: expect.any(String),
        type: 'golden_run.got_worse',
        createdAt: worse.endedAt,
        organisationId: organisation.id,
        spaceId: space.id,
        runId: worse.id,
        previousRunId: worse.comparison?.runId,
        worse: 1,
        passedShare: 0.5,
      },
    ])

    const regressions = async () => {
      const pages = ['golden-questions', 'golden-runs'].map((part) => member.call('GET', `${base()}/${part}`))
      return (await Promise.all(pages)).map((answer) => expectStatus(answer, 200).regression as object | null)
    }
    const regression = { runId: worse.id, endedAt: worse.endedAt, worse: 1 }
    expect(await regressions()).toEqual([regression, regression])
    // Not worse than the run before it, but no better either.
    replies = { ticket: 'A ticket for adults costs 14 euros.' }
    expect((await run()).comparison).toMatchObject({ worse: 0 })
    expect(await regressions()).toEqual([regression, regression])
    replies = { ticket: ticketAnswer }
    await run()
    expect(await regressions()).toEqual([null, null])
  })

  it('is no longer current after a change of the Space, its questions or its documents', async () => {
    const { id: questionId } = await addTicket()
    const done = await run()
    expect(done.isCurrent).toBe(true)
    const isCurrent = async () => (await load(done.id)).isCurrent
    const change = (path: string, body: object) =>
      administrator.call('PATCH', path, body).then((a) => expectStatus(a, 200))
    await change(base(), { settings: { keepUnansweredQuestions: true } })
    expect(await isCurrent()).toBe(true)
    await change(base(), { instructions: 'Be brief.' })
    expect(await isCurrent()).toBe(false)
    await change(base(), { instructions: '' })
    expect(await isCurrent()).toBe(true)
    await change(`${base()}/golden-questions/${questionId}`, { expectedFacts: ['twelve euros'] })
    expect(await isCurrent()).toBe(false)
    const again = await run()
    expect(again.isCurrent).toBe(true)
    expect((await organisation.client('DELETE', `/v1/documents/${ticketsId}`)).status).toBe(204)
    expect((await load(again.id)).isCurrent).toBe(false)
  })

  it('finds a document that was deleted and uploaded again by its name', async () => {
    await addTicket()
    expect((await organisation.client('DELETE', `/v1/documents/${ticketsId}`)).status).toBe(204)
    const id = await uploadReady(organisation, space.id, 'A ticket for adults costs 12 euros today.', 'tickets.txt')
    const done = await run()
    expect((await resultsOf(done.id)).items[0].expectedDocuments).toMatchObject([{ id, isCited: true }])
  })

  it('keeps the Space and the question as they were at its start', async () => {
    const held = Promise.withResolvers<string>()
    replies = { ticket: held.promise }
    const { id } = await addTicket()
    const begun = await start()
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(1)
    expect((await member.call('DELETE', `${base()}/golden-questions/${id}`)).status).toBe(204)
    held.resolve(ticketAnswer)
    expect(await ended(begun.id)).toMatchObject({ questions: { total: 1, passed: 1 } })
  })

  it('continues after a question without an answer, and reports its error', async () => {
    await addTicket()
    await add({ messages: ask('Does it break?') })
    replies = { ticket: ticketAnswer, break: 400 }
    const done = await run()
    expect(done).toMatchObject({
      state: 'completed',
      questions: { passed: 1, error: 1 },
      measures: { passedShare: 0.5 },
    })
    const { items } = await resultsOf(done.id, '?only=not_passed')
    expect(items).toMatchObject([{ outcome: 'error', error: expect.any(String), measures: null, answer: null }])
  })
})

describe('starting a run', () => {
  it('is refused without questions, and while another run of the Space has not ended', async () => {
    const held = Promise.withResolvers<string>()
    replies = { ticket: held.promise }
    const empty = await member.call('POST', `${base()}/golden-runs`)
    expect([empty.status, empty.body.error.code]).toEqual([409, 'conflict'])
    await addTicket()
    const answers = await Promise.all([1, 2, 3].map(() => member.call('POST', `${base()}/golden-runs`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409])
    held.resolve(ticketAnswer)
    await ended(answers.find(({ status }) => status === 202)!.body.id)
    expect((await ended((await start()).id)).state).toBe('completed')
  })
})

describe('a run that is cancelled', () => {
  it('stops its answer, skips the rest and stays cancelled', async () => {
    replies = { ticket: new Promise<string>(() => {}) }
    await addTicket()
    for (const name of ['a', 'b', 'c']) await add({ messages: ask(`Is ${name} a ticket?`) })
    const { id } = await start()
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(2)
    const cancelled = expectStatus(await member.call('POST', `${base()}/golden-runs/${id}/cancel`), 200)
    expect(cancelled).toMatchObject({ state: 'cancelled', questions: { total: 4, skipped: 4 } })
    await expect.poll(() => upstream.requests.filter(({ aborted }) => aborted).length, { timeout: 20_000 }).toBe(2)
    expect((await member.call('POST', `${base()}/golden-runs/${id}/cancel`)).status).toBe(409)
    const { items } = (await portico.operator('GET', `/api/admin-log?subjectId=${id}`)).body
    expect(items).toMatchObject([
      { action: 'golden_run.cancelled', actor: 'm@example.org', subjectName: 'Test Space' },
      { action: 'golden_run.started', after: { spaceId: space.id, questions: 4, model: 'large' } },
    ])
    const created = await portico.operator('GET', '/api/admin-log?action=golden_question.created&limit=1')
    expect(created.body.items).toMatchObject([{ subjectName: 'Test Space' }])
    expect(asked).toHaveLength(2)
    replies = { ticket: ticketAnswer }
    expect((await run()).state).toBe('completed')
  })
})

describe('money', () => {
  it('ends a run that has cost its limit, with the results so far', async () => {
    await settings({ maximumCostUsd: 0.002 })
    for (let index = 0; index < 6; index++) await add({ messages: ask(`Is ${index} open?`) })
    const done = await run()
    expect(done).toMatchObject({ state: 'stopped', reason: { code: 'cost_limit' } })
    expect(done.questions.passed).toBeLessThanOrEqual(3)
    expect(done.questions.passed + done.questions.skipped).toBe(6)
  })

  it('ends a run when the budget of the organisation is used up', async () => {
    await addTicket()
    await portico.operator('PATCH', `/api/organisations/${organisation.id}`, { monthlyBudgetUsd: '0' })
    const done = await run()
    await portico.operator('PATCH', `/api/organisations/${organisation.id}`, { monthlyBudgetUsd: '100' })
    expect(done).toMatchObject({ state: 'stopped', reason: { code: 'insufficient_quota' }, questions: { skipped: 1 } })
    expect(asked).toEqual([])
  })
})

describe('the gate before publishing', () => {
  const publish = (query = '') => administrator.call('POST', `${base()}/publish${query}`)
  const gate = async () => expectStatus(await member.call('GET', `${base()}/publication-gate`), 200)

  beforeEach(async () => {
    expectStatus(await administrator.call('POST', `${base()}/unpublish`), 200)
  })

  it('refuses a Space without a passed run of its current configuration, and names the measure', async () => {
    expect(await gate()).toEqual({ isPassed: true, problem: null, runId: null, measures: [] })
    await addTicket()
    await settings({ gate: { passedShare: 0.9, retrievalHitRate: 0.5 } })
    const without = await publish()
    expect([without.status, without.body.error.code]).toEqual([409, 'golden_questions_not_passed'])
    expect(without.body.error.message).toContain('no completed run')

    replies = { ticket: 'A ticket for adults costs 13 euros.' }
    const failed = await run()
    const { message } = (await publish()).body.error
    expect(message).toContain(`\`passedShare\` is 0 and must be at least 0.9`)
    expect(message).not.toContain('retrievalHitRate')
    expect(await gate()).toEqual({
      isPassed: false,
      problem: message,
      runId: failed.id,
      measures: [
        { measure: 'passedShare', value: 0, minimum: 0.9, isPassed: false },
        { measure: 'retrievalHitRate', value: 1, minimum: 0.5, isPassed: true },
      ],
    })

    replies = { ticket: ticketAnswer }
    await run()
    expect((await gate()).isPassed).toBe(true)
    expectStatus(await administrator.call('PATCH', base(), { instructions: 'Be brief.' }), 200)
    expect((await publish()).status).toBe(409)
    expectStatus(await administrator.call('PATCH', base(), { instructions: '' }), 200)
    expect((await publish()).status).toBe(200)
    // A published Space stays published.
    await settings({ gate: { abstentionAccuracy: 1, factShare: 1 } })
    expect((await publish()).status).toBe(200)
  })

  it('does not pass with a question that has no answer, or with a measure that no question has', async () => {
    await add({ messages: ask('Does it break?') })
    await settings({ gate: { passedShare: 0 } })
    replies = { break: 400 }
    await run()
    expect((await publish()).body.error.message).toContain('1 golden questions have no answer')
    replies = {}
    await settings({ gate: { factShare: 0 } })
    await run()
    expect((await publish()).body.error.message).toContain('`factShare` has no value')
  })

  it('is overridden with a reason, which the admin log has', async () => {
    await settings({ gate: { passedShare: 1 } })
    expect((await publish('?overrideReason=%20')).body.error.param).toBe('overrideReason')
    expect((await publish(`?overrideReason=${'x'.repeat(501)}`)).status).toBe(400)
    expect((await publish('?overrideReason=The%20fair%20opens')).status).toBe(200)
    const { items } = (await portico.operator('GET', '/api/admin-log?action=space.published&limit=1')).body
    expect(items[0]).toMatchObject({
      actor: 'a@example.org',
      after: {
        published: true,
        overrideReason: 'The fair opens',
        overriddenProblem: expect.stringContaining('no completed run'),
      },
    })
  })
})
