import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildTextPdf } from '../../src/documents/ingestion/testing/build-documents.ts'
import { type SseEvent, SseParser } from '../../src/platform/kernel/index.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** Passage references of published chat, and the preview of a Space with a session. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let member: Browser
let administrator: Browser

const inline = { 'service-enable-inline-sources': 'true' }
const withPassages = { 'service-enable-passage-references': 'true' }
const ask = (content: string) => ({ messages: [{ role: 'user', content }] })
const ticketQuestion = ask('How much does a ticket cost?')
const museum = `# Opening hours

The museum is open from Tuesday to Friday between 10:00 and 18:00.

# Tickets 🎟

A ticket costs 12 euros. Children under six years enter free of charge.
${'Visitors leave their coats at the entrance, and their bags too. '.repeat(60)}
The night tour is on Fridays in August.
`

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, { settings: { wholeSpaceTokens: 0 } })
  member = await createPerson(portico, { email: 'm@example.org', organisationId: organisation.id })
  administrator = await createPerson(portico, {
    email: 'a@example.org',
    organisationId: organisation.id,
    role: 'administrator',
  })
  await upload(space, museum, 'museum.md')
  await upload(space, 'city,inhabitants\nParis,2100000\nHamburg,1900000\nOslo,700000\n', 'cities.csv')
  const page = (text: string) => ({ texts: [{ text, x: 72, y: 700 }] })
  const garden = buildTextPdf([page('The gardens open in spring.'), page('The pond of the park holds forty herons.')])
  await upload(space, garden, 'garden.pdf')
})
afterAll(() => portico?.stop())

async function upload(target: TestSpace, content: string | Uint8Array, fileName: string) {
  await uploadReady(organisation, target.id, content, fileName)
}

const chat = (body: object, headers: Record<string, string>) =>
  organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, body, headers)
const preview = (browser: Browser, body: object, headers: Record<string, string> = {}, target = space) =>
  browser.call('POST', `/api/spaces/${target.id}/chat`, body, headers)

function eventsOf(body: string): { name: string; data: Record<string, unknown> }[] {
  const parser = new SseParser({ maximumEventBytes: 1_000_000 })
  const events: SseEvent[] = [...parser.push(new TextEncoder().encode(body)), ...parser.end()]
  return events.map(({ event, data }) => ({ name: event!, data: JSON.parse(data) }))
}

interface CitedReference {
  title: string
  documentId?: string
  passages: {
    page?: number
    rows?: object
    heading?: string
    quote: string
    start: number
    end: number
    markers?: object[]
  }[]
}

const passageOf = (references: CitedReference[], title: string) =>
  references.find((reference) => reference.title === title)!.passages[0]!

describe('passage references', () => {
  it('name the heading, the quote and the range of a text', async () => {
    const question = ask('When is the night tour in August?')
    const { references } = expectStatus(await chat(question, { ...inline, ...withPassages }), 200)
    const passage = passageOf(references, 'museum.md')
    expect(passage).toMatchObject({ heading: 'Tickets 🎟', quote: 'The night tour is on Fridays in August.' })
    expect(passage.page).toBeUndefined()
    const { items } = expectStatus(
      await member.call('GET', `/api/documents/${references[0].documentId}/chunks?limit=500`),
      200,
    )
    expect(items).toContainEqual(expect.objectContaining({ characterFrom: passage.start, characterTo: passage.end }))
  })

  it('name the page of a PDF and the rows of a CSV', async () => {
    const herons = expectStatus(
      await chat(ask('How many herons does the pond hold?'), { ...inline, ...withPassages }),
      200,
    )
    // The answer quotes the sentence before it as well, which has a separate marker.
    expect(passageOf(herons.references, 'garden.pdf').markers).toContainEqual(
      expect.objectContaining({ page: 2, quote: expect.stringContaining('forty herons') }),
    )
    const spring = expectStatus(await chat(ask('When do the gardens open?'), { ...inline, ...withPassages }), 200)
    expect(passageOf(spring.references, 'garden.pdf')).toMatchObject({ page: 1, quote: 'The gardens open in spring.' })
    const cities = expectStatus(await chat(ask('Hamburg'), { ...inline, ...withPassages }), 200)
    expect(passageOf(cities.references, 'cities.csv')).toMatchObject({ rows: { from: 1, to: 3 } })
    expect(passageOf(cities.references, 'cities.csv').quote).toContain('Hamburg')
  })

  it('are all given passages without inline sources', async () => {
    const { references } = expectStatus(await chat(ticketQuestion, withPassages), 200)
    expect(references.map(({ title }: CitedReference) => title)).toContain('museum.md')
    for (const { passages } of references as CitedReference[]) {
      expect(passages.length).toBeGreaterThan(0)
      for (const { quote } of passages) expect([...quote].length).toBeLessThanOrEqual(300)
    }
  })

  it('are the same in a stream, with the ids of the documents', async () => {
    const headers = { ...inline, ...withPassages }
    const whole = expectStatus(await chat(ticketQuestion, headers), 200)
    const { body } = await chat({ ...ticketQuestion, streaming: true }, headers)
    const references = eventsOf(body).find(({ name }) => name === 'references')!.data.references
    expect(references).toEqual(whole.references)
  })

  it('are absent without the header', async () => {
    const whole = expectStatus(await chat(ticketQuestion, inline), 200)
    expect(Object.keys(whole.references[0]).toSorted()).toEqual(['documentId', 'id', 'title'])
    const { body } = await chat({ ...ticketQuestion, streaming: true }, inline)
    const events = eventsOf(body)
    expect(events.find(({ name }) => name === 'references')!.data).toEqual({
      references: [{ id: 1, title: 'museum.md' }],
    })
    expect(events[0]!.data).toEqual({ source: 'UPLOADED_FILES', status: 'RETRIEVED', count: expect.any(Number) })
    expect(events.map(({ name }) => name)).not.toContain('cost')
  })
})

describe('the preview of a Space', () => {
  it('answers as published chat does, also before the Space is published', async () => {
    const published = expectStatus(await chat(ticketQuestion, inline), 200)
    expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/unpublish`), 200)
    const answer = expectStatus(await preview(member, ticketQuestion, inline), 200)
    expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/publish`), 200)
    expect(answer).toMatchObject({ content: published.content, references: published.references })
  })

  it('reports what each search did, and to administrators what the answer cost', async () => {
    const { body, headers } = await preview(administrator, { ...ticketQuestion, streaming: true }, inline)
    const events = eventsOf(body)
    expect(events[0]!.data).toMatchObject({
      count: expect.any(Number),
      query: 'How much does a ticket cost?',
      documents: expect.arrayContaining([{ id: expect.any(String), title: 'museum.md' }]),
      milliseconds: expect.any(Number),
    })
    expect(events.slice(-4).map(({ name }) => name)).toEqual(['references', 'citations', 'cost', 'done'])
    expect(events.at(-3)!.data).toEqual({
      supported: expect.any(Number),
      moved: 0,
      dropped: 0,
      unchecked: 0,
      attributed: 0,
    })
    const requestId = headers.get('x-request-id')
    expect(events.at(-2)!.data).toMatchObject({ requests: [{ requestId, model: 'portico/offline' }] })
    expectStatus(await administrator.call('GET', `/api/usage/${requestId}`), 200)
    const seen = eventsOf((await preview(member, { ...ticketQuestion, streaming: true })).body)
    expect(seen.map(({ name }) => name)).not.toContain('cost')
    expect(seen.map(({ name }) => name)).not.toContain('citations')
    expect(expectStatus(await preview(member, ticketQuestion), 200).cost).toBeUndefined()
  })

  it('gives administrators the reason of a failure, and members the text for visitors', async () => {
    const poor = await portico.createOrganisation({ monthlyBudgetUsd: '0' })
    const target = await portico.createSpace(poor)
    const person = (email: string, role: string) => createPerson(portico, { email, organisationId: poor.id, role })
    const poorMember = await person('pm@example.org', 'member')
    const poorAdministrator = await person('pa@example.org', 'administrator')
    const refused = await preview(poorAdministrator, ticketQuestion, {}, target)
    expect(refused).toMatchObject({ status: 402, body: { error: { code: 'insufficient_quota' } } })
    expect(refused.body.error.message).toContain('no budget')
    const shown = await preview(poorMember, ticketQuestion, {}, target)
    expect(shown).toMatchObject({
      status: 402,
      body: { error: { message: 'This assistant is unavailable at the moment.' } },
    })
  })

  it('names the field of an error in the request', async () => {
    expect(await preview(member, { messages: [] })).toMatchObject({
      status: 400,
      body: { error: { param: 'messages' } },
    })
  })

  it('is closed to people of other organisations', async () => {
    const other = await portico.createOrganisation()
    const stranger = await createPerson(portico, { email: 's@example.org', organisationId: other.id })
    expect(await preview(stranger, ticketQuestion)).toMatchObject({
      status: 404,
      body: { error: { code: 'space_not_found' } },
    })
  })
})
