import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import {
  agentic,
  type ChatEvent,
  inline,
  question,
  type ScriptedStage,
  startScriptedStage,
} from '../harness/scripted-space.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import type { UpstreamReply, UpstreamRequest } from '../upstream/upstream.ts'

/** The table "Failures" of docs/use/chat.md: what changes or fails while an answer is made, streamed and as JSON. */

let stage: ScriptedStage
let organisation: TestOrganisation
const unavailable = 'This assistant is unavailable at the moment.'
const withoutRewriting = { queryRewriting: 'off', maximumPassages: 2 }

beforeAll(async () => {
  stage = await startScriptedStage()
  organisation = await stage.portico.createOrganisation()
})
afterAll(() => stage?.stop())
beforeEach(() => stage.play(() => scriptedTurn('Twelve euros.')))

const operator = (method: string, path: string, body?: unknown) => stage.portico.operator(method, path, body)

/** A Space with two documents; `documents` has their ids. */
async function createSpace(
  from = organisation,
  fields: { model?: string; settings?: object } = { model: 'm', settings: withoutRewriting },
) {
  const space = await stage.portico.createSpace(from, {
    ...fields,
    settings: { wholeSpaceTokens: 0, ...fields.settings },
  })
  const documents = [
    await stage.upload(from, space, 'Tickets for adults cost twelve euros at the museum.', 'tickets.txt'),
    await stage.upload(from, space, 'The museum garden has forty herons.', 'herons.txt'),
  ]
  return { ...space, documents }
}

const ask = (space: TestSpace, headers: Record<string, string> = {}, from = organisation, messages = question) =>
  from.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages }, headers)

/** The reply is sent up to its first text; the rest follows after `release`. */
function heldTurn(first: string, rest: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { headers, body } = scriptedTurn(first)
  const text = String(body)
  const bytes = text.indexOf('\n\n') + 2
  const more = String(scriptedTurn(rest).body)
  const reply: UpstreamReply = {
    headers: headers!,
    body: text.slice(0, bytes) + more,
    holdAt: { bytes, until: promise },
  }
  return { reply, release: resolve }
}

const names = (events: readonly ChatEvent[]) => events.map(({ event }) => event)
const textOf = (events: readonly ChatEvent[]) =>
  events.flatMap(({ event, data }) => (event === 'assistant_write' ? [data.delta as string] : [])).join('')
const heldUsd = async ({ id }: TestOrganisation) =>
  expectStatus(await operator('GET', `/api/organisations/${id}/budget`), 200).heldUsd as string
const receiptOf = async (requestId: string) => expectStatus(await operator('GET', `/api/usage/${requestId}`), 200)

describe('the Space', () => {
  it.each([
    ['unpublished', (space: TestSpace) => operator('POST', `/api/spaces/${space.id}/unpublish`)],
    ['removed', (space: TestSpace) => operator('DELETE', `/api/spaces/${space.id}`)],
  ])('that is %s ends its answers at the next event, and they are billed', async (_case, change) => {
    const space = await createSpace()
    const { reply, release } = heldTurn('Tickets cost money. ', 'Twelve euros.')
    stage.play(() => reply)
    const chat = await stage.openChat(organisation, space)
    await chat.until('assistant_write')
    expect((await change(space)).status).toBeLessThan(300)
    release()
    const events = await chat.all()
    expect(events.at(-1)).toEqual({ event: 'error', data: { error: unavailable } })
    expect(textOf(events)).not.toContain('Twelve')
    const receipt = await receiptOf(chat.requestId)
    expect(receipt.ending).toBe('client_closed')
    expect(Number(receipt.billedUsd)).toBeGreaterThan(0)
  })

  it('that is unpublished answers 404 to a request without streaming that is under way', async () => {
    const space = await createSpace()
    stage.play(async () => {
      expectStatus(await operator('POST', `/api/spaces/${space.id}/unpublish`), 200)
      return scriptedTurn('Twelve euros.')
    })
    expect(await ask(space)).toMatchObject({
      status: 404,
      body: { error: { code: 'endpoint_not_found', message: unavailable } },
    })
  })

  it('calls the model no further after it was unpublished', async () => {
    const space = await createSpace()
    stage.play(async () => {
      expectStatus(await operator('POST', `/api/spaces/${space.id}/unpublish`), 200)
      return scriptedTurn([{ name: 'current_date', args: {} }])
    })
    expect((await ask(space, agentic)).status).toBe(404)
    expect(stage.calls()).toHaveLength(1)
  })

  it('has new instructions from the next request on', async () => {
    const space = await createSpace()
    stage.play(async ({ results }) => {
      if (results.length > 0) return scriptedTurn('Twelve euros.')
      expectStatus(await operator('PATCH', `/api/spaces/${space.id}`, { instructions: 'Answer in rhymes.' }), 200)
      return scriptedTurn([{ name: 'current_date', args: {} }])
    })
    expectStatus(await ask(space, agentic), 200)
    const sent = stage.upstream.requests.slice(-2).map(({ body }) => body)
    expect(sent.map((body) => body.includes('rhymes'))).toEqual([false, false])
    stage.play(() => scriptedTurn('Twelve euros.'))
    expectStatus(await ask(space), 200)
    expect(stage.upstream.requests.at(-1)!.body).toContain('rhymes')
  })
})

describe('the organisation', () => {
  it('whose key is replaced receives the rest of a running answer, and a 401 afterwards', async () => {
    const own = await stage.portico.createOrganisation()
    const space = await createSpace(own)
    const { reply, release } = heldTurn('Tickets cost money. ', 'Twelve euros.')
    stage.play(() => reply)
    const chat = await stage.openChat(own, space)
    await chat.until('assistant_write')
    expectStatus(await operator('POST', `/api/organisations/${own.id}/api-key`), 201)
    release()
    expect(names(await chat.all()).at(-1)).toBe('done')
    expect((await ask(space, {}, own)).status).toBe(401)
  })

  it('whose subscription ends gets no further call of the model', async () => {
    const own = await stage.portico.createOrganisation()
    const space = await createSpace(own)
    stage.play(async () => {
      const subscription = { status: 'cancelled' }
      expectStatus(await operator('PATCH', `/api/organisations/${own.id}`, { subscription }), 200)
      return scriptedTurn([{ name: 'current_date', args: {} }])
    })
    expect(await ask(space, agentic, own)).toMatchObject({
      status: 402,
      body: { error: { code: 'subscription_required', message: unavailable } },
    })
    expect(stage.calls()).toHaveLength(1)
  })

  it('keeps a budget that was changed during an answer with several calls of the model', async () => {
    const own = await stage.portico.createOrganisation()
    const space = await createSpace(own)
    stage.play(async ({ results }) => {
      if (results.length > 0) return scriptedTurn('Twelve euros.')
      expectStatus(await operator('PATCH', `/api/organisations/${own.id}`, { monthlyBudgetUsd: '0.001' }), 200)
      return scriptedTurn([{ name: 'current_date', args: {} }])
    })
    expect(await ask(space, agentic, own)).toMatchObject({ status: 402 })
    expect(stage.calls()).toHaveLength(1)
    expect(await heldUsd(own)).toBe('0')
  })
})

describe('a document that is deleted while it is cited', () => {
  const passages = { 'service-enable-passage-references': 'true' }
  /** The model answers after the deletion of tickets.txt, which it has received. */
  async function askAfterDeletion(headers: Record<string, string>) {
    const space = await createSpace()
    stage.play(async () => {
      expectStatus(await organisation.client('DELETE', `/v1/documents/${space.documents[0]}`), 204)
      return scriptedTurn('Tickets for adults cost twelve euros [1]. The garden has forty herons [2].')
    })
    return { space, answer: expectStatus(await ask(space, headers), 200) }
  }

  it('is no reference of an answer without markers', async () => {
    const { answer } = await askAfterDeletion(passages)
    expect(answer.references).toMatchObject([{ id: 1, title: 'herons.txt', passages: [{ quote: expect.any(String) }] }])
  })

  it('keeps the number of its marker, and is not quoted', async () => {
    const { answer } = await askAfterDeletion({ ...inline, ...passages })
    const [first, second] = answer.references
    const tickets = first.title === 'tickets.txt' ? first : second
    expect(answer.references).toHaveLength(2)
    expect(tickets).toEqual({
      id: expect.any(Number),
      title: 'tickets.txt',
      documentId: expect.any(String),
      passages: [],
    })
  })

  it('is not found by a tool', async () => {
    const space = await createSpace()
    stage.play(async ({ results }) => {
      if (results.length > 0) return scriptedTurn('Done.')
      expectStatus(await organisation.client('DELETE', `/v1/documents/${space.documents[0]}`), 204)
      return scriptedTurn([
        { name: 'open_document', args: { document: 'tickets.txt' } },
        { name: 'search_uploaded_files', args: { query: 'tickets' } },
      ])
    })
    expectStatus(await ask(space, agentic), 200)
    expect(stage.calls()[1]!.results.join()).not.toContain('twelve euros')
  })
})

describe('the budget', () => {
  const large = Array.from({ length: 6_000 }, (_, n) => `Rule ${n} of the house is long.`).join(' ')

  async function poorSpace(monthlyBudgetUsd: string, fields: { model?: string; settings?: object } = {}) {
    const own = await stage.portico.createOrganisation()
    const space = await createSpace(own, { model: 'm', settings: withoutRewriting, ...fields })
    const setBudget = async (usd: string) => {
      // What the documents cost is spent already.
      const { spentUsd } = expectStatus(await operator('GET', `/api/organisations/${own.id}/budget`), 200)
      const sum = (Number(spentUsd) + Number(usd)).toFixed(9)
      expectStatus(await operator('PATCH', `/api/organisations/${own.id}`, { monthlyBudgetUsd: sum }), 200)
    }
    return { own, space, setBudget: () => setBudget(monthlyBudgetUsd) }
  }

  it('covers the last answer before tools may use it: results that do not fit are taken back', async () => {
    const { own, space, setBudget } = await poorSpace('0.03')
    await stage.upload(own, space, large, 'rules.txt')
    await setBudget()
    const titles = ({ references }: { references: { title: string }[] }) => references.map(({ title }) => title)
    const withoutTools = expectStatus(await ask(space, {}, own), 200)
    const open = { name: 'open_document', args: { document: 'rules.txt' } }
    stage.play(({ toolChoice }) => scriptedTurn(toolChoice === 'none' ? 'Twelve euros.' : [open, open, open, open]))
    const answer = expectStatus(await ask(space, { 'service-enable-agentic-workflow': 'true' }, own), 200)
    expect(answer.content).toBe('Twelve euros.')
    expect(titles(answer)).toEqual(titles(withoutTools))
    expect(stage.calls().map(({ toolChoice, results }) => [toolChoice, results.length])).toEqual([
      [undefined, 0],
      ['none', 0],
    ])
    expect(await heldUsd(own)).toBe('0')
  })

  it('that covers one call only is used for the answer, without tools', async () => {
    const { own, space, setBudget } = await poorSpace('0.009')
    await setBudget()
    expect(expectStatus(await ask(space, agentic, own), 200).content).toBe('Twelve euros.')
    expect(stage.calls().map(({ toolChoice }) => toolChoice)).toEqual(['none'])
  })

  it('that covers one call only is not used to rewrite the question', async () => {
    const { own, space, setBudget } = await poorSpace('0.02', { settings: { maximumPassages: 2 } })
    const followUp = [
      ...question,
      { role: 'assistant', content: 'Twelve euros.' },
      { role: 'user', content: 'And it?' },
    ]
    expectStatus(await ask(space, {}, own, followUp), 200)
    expect(stage.calls().map(({ isRewriting }) => isRewriting)).toEqual([true, false])
    await setBudget()
    stage.play(() => scriptedTurn('Twelve euros.'))
    expectStatus(await ask(space, {}, own, followUp), 200)
    expect(stage.calls().map(({ isRewriting }) => isRewriting)).toEqual([false])
  })

  it('that a provider exceeds by its usage still covers the last answer', async () => {
    const { own, space, setBudget } = await poorSpace('0.03')
    await setBudget()
    stage.play(({ toolChoice }) =>
      toolChoice === 'none'
        ? scriptedTurn('Twelve euros.')
        : scriptedTurn([{ name: 'current_date', args: {} }], 100_000),
    )
    expect(expectStatus(await ask(space, agentic, own), 200).content).toBe('Twelve euros.')
    expect(stage.calls().map(({ toolChoice }) => toolChoice)).toEqual([undefined, 'none'])
  })

  it.each([true, false])(
    'that ends in the middle of a text ends the answer, which is billed (streaming: %s)',
    async (streaming) => {
      const { own, space, setBudget } = await poorSpace('0.03', { model: 'long' })
      await setBudget()
      const { reply, release } = heldTurn('Tickets cost money. ', '')
      const words = Array.from({ length: 6_000 }, () =>
        JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] }),
      )
      const body = String(reply.body).slice(0, reply.holdAt!.bytes) + words.map((word) => `data: ${word}\n\n`).join('')
      stage.play(() => ({ ...reply, body }))
      const cut = async () => {
        expectStatus(await operator('PATCH', `/api/organisations/${own.id}`, { monthlyBudgetUsd: '0.000001' }), 200)
        expect((await ask(space, {}, own)).status).toBe(402)
      }
      if (streaming) {
        const chat = await stage.openChat(own, space)
        await chat.until('assistant_write')
        await cut()
        release()
        const events = await chat.all()
        expect(events.at(-1)).toEqual({ event: 'error', data: { error: unavailable } })
        const receipt = await receiptOf(chat.requestId)
        expect(receipt).toMatchObject({ ending: 'budget_ended', estimated: true })
        expect(Number(receipt.billedUsd)).toBeGreaterThan(0)
      } else {
        const asked = ask(space, {}, own)
        await vi.waitFor(() => expect(stage.calls()).toHaveLength(1), { timeout: 10_000 })
        await cut()
        release()
        expect(await asked).toMatchObject({ status: 402, body: { error: { code: 'insufficient_quota' } } })
      }
      expect(await heldUsd(own)).toBe('0')
    },
  )
})

describe('a client that leaves', () => {
  let space: TestSpace
  let tables: TestSpace
  const followUp = [...question, { role: 'assistant', content: 'Twelve euros.' }, { role: 'user', content: 'And it?' }]
  const never: UpstreamReply = { headersAfterMs: 'never' }
  /** Sends a first text, then nothing. */
  const stalls = (): UpstreamReply => heldTurn('Tickets cost money. ', '').reply

  beforeAll(async () => {
    space = await createSpace(organisation, { model: 'm', settings: { maximumPassages: 2 } })
    tables = await stage.portico.createSpace(organisation, { model: 'm', settings: withoutRewriting })
    const rows = Array.from({ length: 3_000 }, (_, index) => `${index},${index * 7}`)
    await stage.upload(organisation, tables, `a,b\n${rows.join('\n')}\n`, 'numbers.csv')
  })

  /** Leaves when the host has received `request`, and resolves when Portico has closed that connection. */
  async function leaveDuring(
    start: (signal: AbortSignal) => Promise<unknown>,
    isReached: (request: UpstreamRequest) => boolean,
  ) {
    const client = new AbortController()
    const from = stage.upstream.requests.length
    const gone = start(client.signal)
    const index = await vi.waitFor(
      () => {
        const found = stage.upstream.requests.findIndex((request, at) => at >= from && isReached(request))
        expect(found).toBeGreaterThanOrEqual(0)
        return found
      },
      { timeout: 15_000, interval: 5 },
    )
    client.abort()
    await expect(gone).rejects.toThrow()
    await stage.upstream.aborted(index)
  }

  const send =
    (
      streaming: boolean,
      {
        target = space,
        headers = {},
        messages = question,
      }: { target?: TestSpace; headers?: object; messages?: object } = {},
    ) =>
    (signal: AbortSignal) =>
      fetch(`${stage.portico.url}/v1/endpoints/${target.endpointId}/chat`, {
        method: 'POST',
        headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ messages, streaming }),
        signal,
      }).then((response) => response.text())

  const isCompletion = ({ path }: UpstreamRequest) => path.endsWith('/completions')

  describe.each([true, false])('(streaming: %s)', (streaming) => {
    it.each([
      ['the embedding of the question', ({ path }: UpstreamRequest) => path.endsWith('/embeddings'), {}, never],
      ['the rewriting of the question', isCompletion, { messages: followUp }, never],
      ['the first call, before a reply', isCompletion, {}, never],
      ['the first call, after some text', isCompletion, {}, 'stalls'],
    ] as const)(
      'ends the call of the provider during %s, and leaves no hold',
      async (_case, isReached, chat, reply) => {
        if (isReached === isCompletion) stage.play(() => (reply === 'stalls' ? stalls() : never))
        else stage.playEmbedding(never)
        await leaveDuring(send(streaming, chat), isReached)
        await vi.waitFor(async () => expect(await heldUsd(organisation)).toBe('0'), { timeout: 10_000 })
        expect(stage.calls().length).toBeLessThanOrEqual(1)
      },
    )

    it('ends the call of the provider in a later round of the agentic workflow', async () => {
      stage.play(({ results }) => (results.length === 0 ? scriptedTurn([{ name: 'current_date', args: {} }]) : never))
      const chat = send(streaming, { headers: agentic })
      await leaveDuring(chat, ({ body }) => body.includes('"role":"tool"'))
      await vi.waitFor(async () => expect(await heldUsd(organisation)).toBe('0'), { timeout: 10_000 })
      expect(stage.calls()).toHaveLength(2)
    })

    it('ends the tool that runs: the model is not called again', async () => {
      // A cross join that takes longer than the limit of a statement.
      const sql = 'select count(*) from t1 a, t1 b, t1 c where a.a * b.b < c.a'
      stage.play(() => scriptedTurn([{ name: 'query_tables', args: { documents: ['numbers.csv'], sql } }]))
      const client = new AbortController()
      const gone = send(streaming, { target: tables, headers: agentic })(client.signal)
      await vi.waitFor(() => expect(stage.calls()).toHaveLength(1), { timeout: 15_000 })
      await vi.waitFor(async () => expect(await heldUsd(organisation)).toBe('0'), { timeout: 10_000 })
      client.abort()
      await expect(gone).rejects.toThrow()
      // A statement that runs would delay this one, and the model would be called again.
      stage.play(() => scriptedTurn('Twelve euros.'))
      expectStatus(await ask(tables, agentic), 200)
      expect(stage.calls()).toHaveLength(1)
    })
  })
})
