import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts'
import { expectStatus, type TestOrganisation, uploadForm, waitForDocument } from '../harness/portico.ts'
import { agentic, type ScriptedStage, startScriptedStage } from '../harness/scripted-space.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'

/** No text of a client, a document, a model or a provider is in the bytes that a collector receives, in its usual form (protobuf). */

let receiver: OtlpReceiver
let stage: ScriptedStage
let organisation: TestOrganisation
let apiKeys: string[]
const placed: string[] = []
/** A word that nothing else has. ASCII, so that both forms of OTLP carry it as it is. */
const canary = (place: string) => {
  const word = `canary-${place}-zq7x`
  placed.push(word)
  return word
}
const collectorKey = 'collector-key-zq7x'

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  stage = await startScriptedStage({
    settings: { telemetry: { otlp: { endpoint: receiver.url }, traces: { sampleRatio: 1 } } },
    environment: { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${collectorKey}` },
  })
  organisation = await stage.portico.createOrganisation({ name: canary('organisation-name') })
  apiKeys = [organisation.apiKey, stage.portico.operatorToken]
})
afterAll(async () => {
  await stage?.stop()
  await receiver?.close()
})

const completionBody = () => ({
  model: 'm',
  messages: [
    { role: 'system', content: canary('system') },
    { role: 'user', content: canary('prompt'), name: canary('name') },
  ],
  stop: [canary('stop')],
  user: canary('user'),
  metadata: { [canary('metadata-key')]: canary('metadata-value') },
})
const clientHeaders = () => ({
  traceparent: `00-${canary('traceparent')}-b7ad6b7169203331-01`,
  tracestate: `v=${canary('tracestate')}`,
  baggage: `k=${canary('baggage')}`,
  'user-agent': canary('user-agent'),
  'x-request-id': canary('request-id'),
})

async function useGateway() {
  const complete = (body: object) => organisation.client('POST', '/v1/gateway/chat/completions', body, clientHeaders())
  stage.play(() => scriptedTurn(canary('stream')))
  expectStatus(await complete({ ...completionBody(), stream: true }), 200)
  const json = { 'content-type': 'application/json' }
  const error = { error: { message: canary('provider-error'), code: canary('provider-code'), type: 'x' } }
  for (const status of [400, 401, 500]) {
    stage.play(() => ({ status, headers: json, body: JSON.stringify(error) }))
    expect((await complete(completionBody())).status).toBeGreaterThanOrEqual(400)
  }
  stage.play(() => ({
    headers: json,
    body: JSON.stringify({
      id: canary('answer-id'),
      model: canary('answer-model'),
      choices: [{ index: 0, message: { content: canary('answer') }, finish_reason: canary('finish-reason') }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    }),
  }))
  expectStatus(await complete(completionBody()), 200)
  expectStatus(await complete({ ...completionBody(), model: canary('model') }), 404)
  expectStatus(await complete({ ...completionBody(), temperature: canary('temperature') }), 400)
  expect((await organisation.client('POST', '/v1/gateway/chat/completions', canary('body'))).status).toBe(400)
  await organisation.client('GET', `/v1/${canary('path')}?q=${canary('query')}`)
  await organisation.client('GET', `/v1/gateway/models/${canary('model-path')}`)
  await organisation.client('GET', `/v1/documents/${canary('document-path')}?x=${canary('query-known')}`)
  await odd({ host: canary('host') })
}

/** A request with a header that `fetch` does not send. */
function odd(headers: Record<string, string>): Promise<void> {
  const { hostname, port } = new URL(stage.portico.url)
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path: '/v1/gateway/models', headers }, (response) =>
      response.resume().on('end', resolve),
    )
      .on('error', reject)
      .end()
  })
}

async function useSpace() {
  const space = await stage.portico.createSpace(organisation, {
    name: canary('space-name'),
    model: 'm',
    instructions: canary('instructions'),
    settings: { wholeSpaceTokens: 0, keepConversations: true },
  })
  const text = `Tickets cost nine euros. ${canary('document')} is the word of the day.`
  const form = uploadForm(text, `${canary('file-name')}.txt`, {
    metadata: JSON.stringify({ [canary('field')]: canary('field-value') }),
  })
  const uploaded = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form, clientHeaders())
  await waitForDocument(organisation.client, expectStatus(uploaded, 201).id)
  const bad = uploadForm(canary('bad-document'), `${canary('bad-name')}.exe`)
  await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, bad)

  const play = () =>
    stage.play(({ isRewriting, round }) =>
      scriptedTurn(
        isRewriting
          ? JSON.stringify({ question: canary('rewritten'), variants: [canary('variant')] })
          : round > 0
            ? canary('space-answer')
            : [
                { name: 'search_uploaded_files', args: { query: canary('tool-query') } },
                { name: canary('tool-name').replaceAll('-', '_'), args: { [canary('argument')]: canary('value') } },
              ],
      ),
    )
  const messages = [
    { role: 'user', content: canary('first-question') },
    { role: 'assistant', content: canary('first-answer') },
    { role: 'user', content: `And how much is it there? ${canary('question')}` },
  ]
  const headers = {
    ...clientHeaders(),
    ...agentic,
    'service-user': canary('visitor'),
  }
  play()
  const chat = await stage.openChat(organisation, space, { messages, headers })
  await chat.all()
  play()
  const path = `/v1/endpoints/${space.endpointId}/chat`
  expectStatus(await organisation.client('POST', path, { messages }, headers), 200)
  stage.play(() => ({ status: 500, body: canary('space-error') }))
  await organisation.client('POST', path, { messages }, headers)
}

it('exports no text of clients, documents, models and providers, and no secret', async () => {
  await useGateway()
  await useSpace()
  await stage.stop()
  expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces', '/v1/metrics']))
  const bytes = Buffer.concat(receiver.requests.map(({ body }) => body))
  // The test would find them: names of spans are in these bytes.
  for (const name of ['chat m', 'invoke_agent', 'execute_tool search_uploaded_files', 'rewrite', 'POST /v1/documents'])
    expect(bytes.includes(name), name).toBe(true)
  expect(placed.length).toBeGreaterThan(60)
  for (const word of placed) {
    expect(bytes.includes(word), word).toBe(false)
    expect(bytes.includes(word.replaceAll('-', '_')), word).toBe(false)
  }
  expect(bytes.includes('zq7x')).toBe(false)
  for (const secret of apiKeys) expect(bytes.includes(secret)).toBe(false)
  for (const { headers } of receiver.requests) expect(headers.authorization).toBe(`Bearer ${collectorKey}`)
})
