import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { type ScriptedStage, startScriptedStage, question } from '../harness/scripted-space.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'

/** The connection of a streamed answer: headers, heartbeat, and clients that do not read. */

let stage: ScriptedStage
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  stage = await startScriptedStage({
    settings: { embeddings: { kind: 'hashing' }, server: { stalledClientMs: 1_000 } },
  })
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation, { model: 'long' })
})
afterAll(() => stage?.stop())

const budget = async () =>
  expectStatus(await stage.portico.operator('GET', `/api/organisations/${organisation.id}/budget`), 200)

describe('a stream whose model is silent', () => {
  it('has headers that keep proxies from buffering, and a comment after 15 s', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    stage.play(() => ({ ...scriptedTurn('Twelve euros.'), holdAt: { bytes: 1, until: promise } }))
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const client = new AbortController()
    try {
      const response = await fetch(`${stage.portico.url}/v1/endpoints/${space.endpointId}/chat`, {
        method: 'POST',
        headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: question, streaming: true }),
        signal: client.signal,
      })
      expect(response.headers.get('x-accel-buffering')).toBe('no')
      expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      const until = async (part: string) => {
        while (!text.includes(part)) text += (await reader.read()).value ?? ''
      }
      await until('event: message_source')
      expect(text).not.toContain(': \n\n')
      await vi.advanceTimersByTimeAsync(15_000)
      await until('\n\n: \n\n')
      resolve()
      await until('event: done')
    } finally {
      vi.useRealTimers()
      client.abort()
    }
  })
})

describe('a client that does not read', () => {
  it('is disconnected after the time limit, its call of the provider ends and is billed, and others are answered meanwhile', async () => {
    // Far more than the buffers of the connections hold.
    const word = JSON.stringify({ choices: [{ index: 0, delta: { content: 'word '.repeat(2_000) } }] })
    const body = `data: ${word}\n\n`.repeat(3_000)
    const headers = { 'content-type': 'text/event-stream' }
    stage.play(({ prompt }) => (prompt.includes('endless') ? { headers, body } : scriptedTurn('Twelve euros.')))
    const index = stage.upstream.requests.length
    const content = JSON.stringify({ messages: [{ role: 'user', content: 'endless' }], streaming: true })
    const url = new URL(stage.portico.url)
    const socket = connect(Number(url.port), url.hostname)
    socket.pause()
    socket.on('error', () => {})
    const lines = [
      `POST /v1/endpoints/${space.endpointId}/chat HTTP/1.1`,
      `host: ${url.host}`,
      `x-api-key: ${organisation.apiKey}`,
      'content-type: application/json',
      `content-length: ${content.length}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n${content}`)
    await stage.upstream.requested(index + 1)
    const other = await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages: question })
    expect(expectStatus(other, 200).content).toBe('Twelve euros.')
    await stage.upstream.aborted(index)
    await vi.waitFor(async () => expect((await budget()).heldUsd).toBe('0'), { timeout: 10_000 })
    // Of 6 million words, which cost $12 and more, only those were read that the buffers of the connections take.
    const spentUsd = Number((await budget()).spentUsd)
    expect(spentUsd).toBeGreaterThan(0.001)
    expect(spentUsd).toBeLessThan(10)
    socket.destroy()
  }, 60_000)
})
