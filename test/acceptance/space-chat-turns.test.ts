import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { agentic, inline, question, type ScriptedStage, startScriptedStage } from '../harness/scripted-space.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'

/** What of a model's turns is an answer, and what clients learn about its end. */

let stage: ScriptedStage
let organisation: TestOrganisation
let space: TestSpace
beforeAll(async () => {
  stage = await startScriptedStage({ settings: { embeddings: { kind: 'hashing' } } })
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation, { model: 'm', settings: { queryRewriting: 'off' } })
  await stage.upload(organisation, space, 'Tickets for adults cost twelve euros at the museum.', 'tickets.txt')
})
afterAll(() => stage?.stop())

const path = () => `/v1/endpoints/${space.endpointId}/chat`
const spent = async () =>
  expectStatus(await stage.portico.operator('GET', `/api/organisations/${organisation.id}/budget`), 200)

/** A turn of the model: pieces of text, then perhaps a call of a tool. */
function turn(texts: string[], { calls = false, end = 'stop' } = {}): UpstreamReply {
  const call = {
    index: 0,
    id: 'c',
    type: 'function',
    function: { name: 'search_uploaded_files', arguments: '{"query":"price"}' },
  }
  const deltas = [...texts.map((content) => ({ content })), ...(calls ? [{ tool_calls: [call] }] : [])]
  const choices = [...deltas.map((delta) => ({ delta, finish_reason: null })), { delta: {}, finish_reason: end }]
  const chunks = [
    ...choices.map((choice) => ({ object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })),
    { choices: [], usage: { prompt_tokens: 90, completion_tokens: 30, total_tokens: 120 } },
  ]
  return {
    headers: { 'content-type': 'text/event-stream' },
    body: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(''),
  }
}

const askWhole = async (headers: Record<string, string>) =>
  expectStatus(await organisation.client('POST', path(), { messages: question }, headers), 200)
const askStreamed = async (headers: Record<string, string>) =>
  (await stage.openChat(organisation, space, { headers })).all()

it('a last message of white space is a 400 that names it, and neither calls a model nor costs anything', async () => {
  stage.play(() => turn(['Yes.']))
  const before = await spent()
  for (const streaming of [false, true]) {
    for (const content of ['', ' \n\t', '\u00a0\u2003'.repeat(2_000)]) {
      const messages = [...question, { role: 'assistant', content: '' }, { role: 'user', content }]
      expect(await organisation.client('POST', path(), { messages, streaming })).toMatchObject({
        status: 400,
        body: {
          error: {
            type: 'invalid_request_error',
            param: 'messages.2.content',
            message: '`messages.2.content` must not be blank: the last message asks the question.',
          },
        },
      })
    }
  }
  expect(stage.calls()).toEqual([])
  expect(await spent()).toEqual(before)
})

it('what a model thinks in its text reaches no visitor and costs no citation', async () => {
  stage.play(() => turn(['<th', 'ink>The file [1] says 99 euros.</thi', 'nk>\n\nTickets cost twelve ', 'euros [1].']))
  const whole = await askWhole(inline)
  expect(whole.content).toBe('Tickets cost twelve euros [1].')
  expect(whole.references).toHaveLength(1)
  const events = await askStreamed(inline)
  expect(events.flatMap(({ data }) => data.delta ?? []).join('')).toBe(whole.content)
})

it('what a model writes before it calls a tool is no part of the answer', async () => {
  stage.play(({ round }) =>
    round === 0
      ? turn(['I will search ', 'the files [1].'], { calls: true })
      : turn(['Tickets cost twelve euros [1].']),
  )
  expect((await askWhole(agentic)).content).toBe('Tickets cost twelve euros [1].')
  const events = await askStreamed(agentic)
  expect(events.flatMap(({ data }) => data.delta ?? []).join('')).toBe('Tickets cost twelve euros [1].')
  expect(events.filter(({ event }) => event === 'message_source')).toHaveLength(2)
})

it.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
])('an answer whose text ends with %s states it for clients that ask for it', async (end, finishReason) => {
  stage.play(() => turn(['Tickets cost twelve euros.'], { end }))
  const asking = { 'service-enable-finish-reason': 'true' }
  expect(await askWhole(asking)).toMatchObject({ finishReason })
  expect(await askWhole({})).not.toHaveProperty('finishReason')
  const names = (await askStreamed({})).map(({ event }) => event)
  const events = await askStreamed(asking)
  expect(events.filter(({ event }) => event === 'assistant_finish')).toEqual([
    { event: 'assistant_finish', data: { finishReason } },
  ])
  expect(events.map(({ event }) => event).filter((event) => event !== 'assistant_finish')).toEqual(names)
  expect(events.findIndex(({ event }) => event === 'assistant_finish')).toBe(names.indexOf('references'))
})

it('a search that is repeated finds what the model does not have yet, and states when there is nothing more', async () => {
  const settings = { queryRewriting: 'off', maximumPassages: 1 }
  const own = await stage.portico.createSpace(organisation, { model: 'm', settings })
  await stage.upload(organisation, own, 'Tickets for adults cost twelve euros at the museum.', 'adults.txt')
  await stage.upload(organisation, own, 'Tickets for groups of ten cost ninety euros at the museum.', 'groups.txt')
  // Too much to give all of it.
  const lamps = Array.from({ length: 2_000 }, (_, n) => `Lamp ${n} is in room ${n % 7} of the archive.`)
  await stage.upload(organisation, own, lamps.join('\n\n'), 'lamps.txt')
  stage.play(({ round }) =>
    round < 2
      ? scriptedTurn([{ name: 'search_uploaded_files', args: { query: 'museum tickets cost' } }])
      : turn(['Done.']),
  )
  const path = `/v1/endpoints/${own.endpointId}/chat`
  expectStatus(await organisation.client('POST', path, { messages: question }, agentic), 200)
  const { prompt, results } = stage.calls().at(-1)!
  const namesIn = (text: string) => text.match(/\b(?:adults|groups)\.txt/g) ?? []
  const [first, second] = results
  expect([...namesIn(prompt), ...namesIn(first!)].toSorted()).toEqual(['adults.txt', 'groups.txt'])
  expect(first).toContain('Also found; already given to you: 1.')
  expect(second).toMatch(/^Nothing new was found; already given to you: [12]\.$/)
})
