import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** The data of the pages about Spaces. test/acceptance/roles.test.ts has the roles. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let member: Browser
let administrator: Browser

beforeAll(async () => {
  portico = await startPortico({ environment: { PORTICO_PUBLIC_URL: 'https://ai.example.com/' } })
  organisation = await portico.createOrganisation({ markupPercent: '50' })
  space = await portico.createSpace(organisation, { name: 'Museum handbook' })
  const person = (email: string, role: string) =>
    createPerson(portico, { email, organisationId: organisation.id, role })
  member = await person('m@example.org', 'member')
  administrator = await person('a@example.org', 'administrator')
})
afterAll(() => portico?.stop())

const listOf = async (query = '') =>
  expectStatus(await member.call('GET', `/api/console/organisations/${organisation.id}/spaces${query}`), 200)

describe('the list of Spaces', () => {
  test('counts the documents of each Space, and their bytes', async () => {
    const empty = await portico.createSpace(organisation, { name: 'Empty one' })
    const text = 'A ticket costs 12 euros.'
    const upload = uploadForm(text, 'tickets.txt')
    const { id } = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, upload), 201)
    await waitForDocument(organisation.client, id)
    const broken = uploadForm('%PDF-1.7 nothing', 'broken.pdf')
    const failed = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, broken), 201)
    await waitForDocument(organisation.client, failed.id)
    const { total, items } = await listOf()
    expect(total).toBe(2)
    expect(items.map((item: { id: string }) => item.id)).toEqual([empty.id, space.id])
    expect(items[0].documents).toEqual({ processing: 0, ready: 0, failed: 0, sizeBytes: 0 })
    expect(items[1]).toMatchObject({
      name: 'Museum handbook',
      model: 'portico/offline',
      modelAvailable: true,
      published: true,
      documents: { processing: 0, ready: 1, failed: 1, sizeBytes: text.length + '%PDF-1.7 nothing'.length },
    })
    expect(items[1].instructions).toBeUndefined()
  })

  test('finds parts of names as they are, and states, in pages', async () => {
    await portico.createSpace(organisation, { name: '100 % wool_care' })
    const namesOf = async (query: string) => (await listOf(query)).items.map(({ name }: { name: string }) => name)
    expect(await namesOf('?search=MUSEUM')).toEqual(['Museum handbook'])
    expect(await namesOf(`?search=${encodeURIComponent('%')}`)).toEqual(['100 % wool_care'])
    expect(await namesOf('?search=_')).toEqual(['100 % wool_care'])
    const { total, items } = await listOf('?limit=1&offset=1')
    expect([total, items.length]).toEqual([3, 1])
    expectStatus(await administrator.call('POST', `/api/spaces/${space.id}/unpublish`), 200)
    expect(await namesOf('?state=unpublished')).toEqual(['Museum handbook'])
    expect(await namesOf('?state=published')).not.toContain('Museum handbook')
    expectStatus(await administrator.call('POST', `/api/spaces/${space.id}/publish`), 200)
    const tooLong = await member.call('GET', `/api/console/organisations/${organisation.id}/spaces?limit=101`)
    expect(tooLong).toMatchObject({ status: 400, body: { error: { param: 'limit' } } })
  })

  test('has nothing of other organisations', async () => {
    const other = await portico.createOrganisation()
    await portico.createSpace(other, { name: 'Museum of others' })
    expect((await listOf('?search=others')).total).toBe(0)
    const theirs = await member.call('GET', `/api/console/organisations/${other.id}/spaces`)
    expect(theirs).toMatchObject({ status: 404, body: { error: { code: 'organisation_not_found' } } })
  })
})

describe('a Space', () => {
  test('has its settings, and whether its model can be called', async () => {
    const view = expectStatus(await member.call('GET', `/api/console/spaces/${space.id}`), 200)
    expect(view).toMatchObject({
      name: 'Museum handbook',
      instructions: expect.any(String),
      settings: { maximumPassages: 30 },
      modelAvailable: true,
      fallbackModel: 'portico/offline',
    })
    const path = `/api/organisations/${organisation.id}`
    expectStatus(await administrator.call('PATCH', path, { disabledModels: ['portico/offline'] }), 200)
    const without = expectStatus(await member.call('GET', `/api/console/spaces/${space.id}`), 200)
    expect(without).toMatchObject({ modelAvailable: false, fallbackModel: null })
    const models = expectStatus(await member.call('GET', `${path.replace('/api', '/api/console')}/space-models`), 200)
    expect(models).toEqual({ models: [], modelsTotal: 0, defaultModel: null })
    expectStatus(await administrator.call('PATCH', path, { disabledModels: [] }), 200)
  })

  test('can use the models of the organisation at the prices that it pays', async () => {
    const path = `/api/console/organisations/${organisation.id}/space-models`
    const { models, defaultModel } = expectStatus(await member.call('GET', path), 200)
    expect(defaultModel).toBe('portico/offline')
    expect(models).toContainEqual(expect.objectContaining({ id: 'portico/offline', input: '0', output: '0' }))
  })
})

describe('the publication of a Space', () => {
  test('has the address for clients, and the display of the key', async () => {
    const path = `/api/console/spaces/${space.id}/publication`
    const view = expectStatus(await administrator.call('GET', path), 200)
    expect(view).toMatchObject({
      space: { id: space.id, published: true },
      baseUrl: 'https://ai.example.com',
      endpointUrl: `https://ai.example.com/v1/endpoints/${space.endpointId}/chat`,
      apiKey: { prefix: expect.stringMatching(/^ptc_/), lastFour: organisation.apiKey.slice(-4) },
    })
    expect(JSON.stringify(view)).not.toContain(organisation.apiKey)
  })
})
