import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** Markers that Portico adds where the model writes none. */

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let space: TestSpace
let plain: TestSpace
let answer = ''

const handbook =
  'The lighthouse of Utö was built in 1753. Its keeper is called Aino Virtanen, and the tower is 24 metres high.'
const prices = 'Adults pay 12 euros for a ticket of the lighthouse, and children pay 6 euros.'

beforeAll(async () => {
  upstream = await startUpstream(() => scriptedTurn(answer))
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us', models: 'declared' },
      ],
      models: [{ id: 'm', maxOutputTokens: 1_000, contextTokens: 200_000, deployments }],
    },
  })
  organisation = await portico.createOrganisation()
  space = await createSpace({})
  plain = await createSpace({ attribution: 'off' })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

async function createSpace(settings: object) {
  const created = await portico.createSpace(organisation, { model: 'm', settings })
  for (const [name, content] of Object.entries({ 'lighthouse.md': handbook, 'prices.md': prices })) {
    const path = `/v1/documents?spaceId=${created.id}`
    const { id } = expectStatus(await organisation.client('POST', path, uploadForm(content, name)), 201)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
  }
  return created
}

async function ask(asked: TestSpace, text: string, headers: Record<string, string>, streaming = false) {
  answer = text
  const path = `/v1/endpoints/${asked.endpointId}/chat`
  const body = { messages: [{ role: 'user', content: 'Tell me about the lighthouse.' }], streaming }
  return expectStatus(await organisation.client('POST', path, body, headers), 200)
}

const inline = { 'service-enable-inline-sources': 'true' }
const withPassages = { ...inline, 'service-enable-passage-references': 'true' }
const unmarked = 'The lighthouse of Utö was built in 1753. Adults pay 12 euros for a ticket. I hope this helps!'

describe('a sentence without a marker', () => {
  it('gets the marker of the file that supports it, in the shape of the contract', async () => {
    const { content, references } = await ask(space, unmarked, inline)
    expect(content).toBe(
      'The lighthouse of Utö was built in 1753. [1] Adults pay 12 euros for a ticket. [2] I hope this helps!',
    )
    expect(references).toEqual([
      { id: 1, title: 'lighthouse.md', documentId: expect.any(String) },
      { id: 2, title: 'prices.md', documentId: expect.any(String) },
    ])
  })

  it('has the same text in a stream', async () => {
    const stream = String(await ask(space, unmarked, inline, true))
    const deltas = [...stream.matchAll(/^event: assistant_write\ndata: (.*)$/gm)]
    const { content } = await ask(space, unmarked, inline)
    expect(deltas.map(([, data]) => (JSON.parse(data!) as { delta: string }).delta).join('')).toBe(content)
    expect(stream).toContain('data: {"references":[{"id":1,"title":"lighthouse.md"},{"id":2,"title":"prices.md"}]}')
  })

  it('is marked as such in passage references', async () => {
    const text = `${unmarked.replace('1753.', '1753 [lighthouse.md].')} The tower is 24 metres high.`
    const { content, references } = await ask(space, text, withPassages)
    expect(content).toContain('1753 [1]. Adults pay 12 euros for a ticket. [2]')
    const [lighthouse, tickets] = references
    expect(lighthouse).not.toHaveProperty('attributed')
    expect(lighthouse.passages[0].markers).toEqual([
      expect.not.objectContaining({ attributed: true }),
      expect.objectContaining({ occurrence: 2, attributed: true, quote: expect.stringContaining('24 metres') }),
    ])
    expect(tickets).toMatchObject({ attributed: true, passages: [{ markers: [{ attributed: true }] }] })
  })

  it('stays as it is without inline sources and where the Space has the setting off', async () => {
    expect((await ask(space, unmarked, {})).content).toBe(unmarked)
    expect(await ask(plain, unmarked, inline)).toMatchObject({ content: unmarked, references: [] })
  })
})
