import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPerson, type Browser } from '../harness/people.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** Which passages of a Space the model receives, with a scripted model that records its prompts. */

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let member: Browser
let prompts: string[] = []
let answer = 'Yes.'

const chapter = (subject: string) =>
  Array.from({ length: 45 }, (_, n) => `Rule ${n} of the ${subject} is that lamp ${n * 3} stays at door ${n * 7}.`)
/** Several chunks. */
const handbook = `# Lighthouse\n\n${chapter('lighthouse').join(' ')}\n\nThe keeper is called Aino Virtanen.`
const harbour = `# Harbour\n\n${chapter('harbour').join(' ')}`
const prices = ['Item,Price', ...Array.from({ length: 120 }, (_, n) => `lantern ${n},${n * 11} euros`)].join('\n')
const limits = { queryRewriting: 'off', wholeSpaceTokens: 0 }

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => {
    prompts.push((JSON.parse(body) as { messages: { content: string }[] }).messages.at(-1)!.content)
    return scriptedTurn(answer)
  })
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us', models: 'declared' },
      ],
      models: [
        { id: 'large', maxOutputTokens: 1_000, contextTokens: 200_000, deployments },
        { id: 'small', maxOutputTokens: 500, contextTokens: 1_200, deployments },
      ],
    },
  })
  organisation = await portico.createOrganisation()
  member = await createPerson(portico, { email: 'm@example.org', organisationId: organisation.id })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(() => {
  prompts = []
  answer = 'Yes.'
})

/** With the ids of its documents by name. */
async function createSpace(settings: object, files: Record<string, string>, model = 'large') {
  const space = await portico.createSpace(organisation, { model, settings })
  const ids: Record<string, string> = {}
  for (const [name, content] of Object.entries(files)) {
    const id = await uploadReady(organisation, space.id, content, name)
    ids[name] = id
  }
  return { ...space, ids }
}

const question = (content: string) => ({ messages: [{ role: 'user', content }] })
async function ask({ endpointId }: TestSpace, content: string, headers: Record<string, string> = {}) {
  const path = `/v1/endpoints/${endpointId}/chat`
  return expectStatus(await organisation.client('POST', path, question(content), headers), 200)
}
const search = async ({ id }: TestSpace, content: string) =>
  expectStatus(await member.call('POST', `/api/spaces/${id}/search`, { ...question(content), candidates: 50 }), 200)
const sourcesOf = (prompt: string) => [
  ...prompt.matchAll(/<source id="(\d+)" title="([^"]+)"[^>]*>\n([^]*?)\n<\/source [0-9a-f]{10}>/g),
]
const timesIn = (text: string, part: string) => text.split(part).length - 1

describe('passages that follow each other in a document', () => {
  it('are one passage without repeated text, and the tester shows their chunks', async () => {
    const space = await createSpace({ ...limits, maximumPassages: 8 }, { 'lighthouse.md': handbook })
    await ask(space, 'Which rule of the lighthouse is about a lamp?')
    const sources = sourcesOf(prompts[0]!)
    const result = await search(space, 'Which rule of the lighthouse is about a lamp?')
    const chunks = result.passages.map(({ chunks: given }: { chunks: { chunkIndex: number }[] }) => given.length)
    expect(Math.max(...chunks)).toBeGreaterThan(1)
    expect(sources).toHaveLength(chunks.length)
    for (let n = 0; n < 45; n++) expect(timesIn(prompts[0]!, `Rule ${n} of the lighthouse `)).toBeLessThan(2)
    expect(prompts[0]).toContain(result.context)
    expect(result.isWhole).toBe(false)
  })

  it('name page, heading and range of the cited chunk in passage references', async () => {
    const space = await createSpace({ ...limits, maximumPassages: 8 }, { 'lighthouse.md': handbook })
    answer = 'Rule 40 of the lighthouse is that lamp 120 stays at door 280 [1].'
    const headers = { 'service-enable-inline-sources': 'true', 'service-enable-passage-references': 'true' }
    const { references } = await ask(space, 'What is rule 40 of the lighthouse about lamp 120?', headers)
    const [reference] = references
    const [cited] = reference.passages
    expect(cited.quote).toContain('Rule 40 of the lighthouse')
    const listed = expectStatus(await member.call('GET', `/api/documents/${reference.documentId}/chunks`), 200)
    const ranges = listed.items.map(
      ({ characterFrom, characterTo }: { characterFrom: number; characterTo: number }) => [characterFrom, characterTo],
    )
    expect(ranges).toContainEqual([cited.start, cited.end])
    const text = listed.items.find(({ characterFrom }: { characterFrom: number }) => characterFrom === cited.start)
    expect(text.text).toContain('Rule 40 of the lighthouse')
  })

  it('give each marker the quote of its statement', async () => {
    const space = await createSpace({ ...limits, maximumPassages: 8 }, { 'lighthouse.md': handbook })
    const rule = (n: number) => `Rule ${n} of the lighthouse is that lamp ${n * 3} stays at door ${n * 7}`
    answer = `${rule(40)} [1], and ${rule(39)} [1].`
    const headers = { 'service-enable-inline-sources': 'true', 'service-enable-passage-references': 'true' }
    const { content, references } = await ask(space, 'What is rule 40 of the lighthouse about lamp 120?', headers)
    expect(content).toBe(answer)
    const { markers } = references[0].passages[0]
    expect(markers).toMatchObject([
      { occurrence: 1, quote: `${rule(40)}.` },
      { occurrence: 2, quote: `${rule(39)}.` },
    ])
    const { documentId } = references[0]
    const listed = expectStatus(await member.call('GET', `/api/documents/${documentId}/chunks`), 200)
    const chunk = listed.items.find(({ text }: { text: string }) => text.includes(rule(39)))
    const at = markers[1].start - chunk.characterFrom
    expect(chunk.text.slice(at, at + markers[1].end - markers[1].start)).toBe(`${rule(39)}.`)
  })

  it('of a table have their header once', async () => {
    const space = await createSpace({ ...limits, maximumPassages: 20 }, { 'prices.csv': prices })
    await ask(space, 'What is the price of lantern 50?')
    const sources = sourcesOf(prompts[0]!)
    expect(sources.length).toBeGreaterThan(0)
    for (const [, , , text] of sources) expect(timesIn(text!, 'Item')).toBe(1)
  })
})

describe('the best passage', () => {
  it('brings its neighbours, which the tester names', async () => {
    const space = await createSpace({ ...limits, maximumPassages: 1 }, { 'lighthouse.md': handbook, 'h.md': harbour })
    await ask(space, 'What is rule 20 of the lighthouse about lamp 60?')
    const result = await search(space, 'What is rule 20 of the lighthouse about lamp 60?')
    expect(prompts[0]).toContain(result.context)
    const [passage] = result.passages
    const found = passage.chunks.filter(({ isFound }: { isFound: boolean }) => isFound)
    expect(found).toHaveLength(1)
    expect(passage.chunks.length).toBeGreaterThan(1)
    expect(result.candidates.filter(({ outcome }: { outcome: string }) => outcome === 'used').length).toBe(
      passage.chunks.length,
    )
  })
})

describe('the same text in two files', () => {
  it('is given once', async () => {
    const text = 'The lighthouse opens its doors at nine in the morning.'
    const space = await createSpace(limits, { 'a.txt': text, 'b.txt': text })
    await ask(space, 'When does the lighthouse open?')
    expect(timesIn(prompts[0]!, text)).toBe(1)
    const { candidates } = await search(space, 'When does the lighthouse open?')
    expect(candidates.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual(['repeat', 'used'])
  })
})

describe('the tokens of passages', () => {
  it('are bounded by the setting of the Space, and the tester states what had no room', async () => {
    const settings = { ...limits, maximumPassageTokens: 900 }
    const space = await createSpace(settings, { 'lighthouse.md': handbook, 'h.md': harbour })
    await ask(space, 'Which rule is about lamp 30 at the door?')
    const used = sourcesOf(prompts[0]!)
      .map(([source]) => source)
      .join('\n')
    // A token of this text has more than 2 characters.
    expect(used.length).toBeLessThan(900 * 4)
    const { candidates, limits: stated } = await search(space, 'Which rule is about lamp 30 at the door?')
    expect(stated).toEqual({ passages: 30, tokens: 900, wholeSpaceTokens: 0 })
    expect(candidates.map(({ outcome }: { outcome: string }) => outcome)).toContain('token_limit')
  })
})

describe('a Space below its limit of whole files', () => {
  const files = {
    'b.md': handbook,
    'a.csv': 'Item,Price\nlantern,9 euros\n',
    'c.txt': 'The pier is closed on Mondays.',
  }

  it('gives all its files in the order of their names, whatever the question is', async () => {
    const space = await createSpace({}, files)
    for (const content of ['Who keeps the lighthouse?', 'Completely unrelated zebras', '?!']) {
      prompts = []
      await ask(space, content)
      const sources = sourcesOf(prompts[0]!)
      const titles = sources.map(([, , title]) => title)
      expect(titles).toEqual(titles.toSorted())
      expect(new Set(titles)).toEqual(new Set(Object.keys(files)))
      const text = sources.map(([, , , one]) => one).join('\n')
      for (const sentence of [...chapter('lighthouse'), 'Aino Virtanen', 'lantern', 'closed on Mondays']) {
        expect(timesIn(text, sentence)).toBeGreaterThan(0)
      }
      for (let n = 0; n < 45; n++) expect(timesIn(text, `Rule ${n} of the lighthouse `)).toBe(1)
      expect(prompts[0]).toContain('the whole text of all uploaded files')
    }
  })

  it('lists only the files that support the answer without inline sources, and all where none does', async () => {
    const space = await createSpace({}, files)
    const titlesOf = (result: { references: { title: string }[] }) => result.references.map(({ title }) => title)
    answer = 'No, the pier is closed on Mondays.'
    expect(titlesOf(await ask(space, 'Is the pier open on Mondays?'))).toEqual(['c.txt'])
    answer = 'Mir ist dazu manches bekannt.'
    expect(titlesOf(await ask(space, 'Is the pier open on Mondays?'))).toHaveLength(3)
  })

  it('reports that nothing was searched, and the tester states it', async () => {
    const space = await createSpace({}, files)
    const preview = expectStatus(await member.call('POST', `/api/spaces/${space.id}/chat`, question('Aino?')), 200)
    expect(preview.sources).toMatchObject([{ source: 'UPLOADED_FILES', status: 'RETRIEVED', query: null }])
    expect(preview.sources[0].documents).toHaveLength(3)
    const result = await search(space, 'Who keeps the lighthouse?')
    expect(result).toMatchObject({ isWhole: true, limits: { wholeSpaceTokens: 6_000 } })
    expect(prompts.at(-1)).toContain(result.context)
    expect(new Set(result.candidates.map(({ outcome }: { outcome: string }) => outcome))).toEqual(new Set(['used']))
  })

  it.each([
    ['the setting is 0', { wholeSpaceTokens: 0 }, 'large'],
    ['they have more tokens', { wholeSpaceTokens: 600 }, 'large'],
    ['the context of the model has no room', {}, 'small'],
  ])('is searched where %s', async (_case, settings, model) => {
    const space = await createSpace({ queryRewriting: 'off', ...settings }, files, model)
    await ask(space, 'Is the pier closed on Mondays?')
    expect(prompts[0]).not.toContain('the whole text of all uploaded files')
    expect(sourcesOf(prompts[0]!)[0]![2]).toBe('c.txt')
    expect((await search(space, 'Is the pier closed on Mondays?')).isWhole).toBe(false)
  })

  it('never gives files of another Space, nor those that are not ready any more', async () => {
    const space = await createSpace({}, files)
    await createSpace({}, { 'other.txt': 'Secret of another Space.' })
    const removed = await organisation.client('DELETE', `/v1/documents/${space.ids['c.txt']}`)
    expect(removed.status).toBeLessThan(300)
    await ask(space, 'Is the pier closed?')
    expect(prompts[0]).not.toContain('Secret')
    expect(prompts[0]).not.toContain('closed on Mondays.')
  })
})
