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

/** Lists of version 2 with filters, and those of the console. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation)
  await upload('Alpha.md', { customer: 'acme', year: 2019, published: true })
  await upload('Älpen.txt', { customer: 'acme', year: '2021', 'a.b': 'x' })
  await upload('beta.md', { customer: 'corvo', year: [2020, 2024], date: '2024-05-01' })
  await upload('gamma alpha.md')
})
afterAll(() => portico?.stop())

async function upload(name: string, metadata?: object) {
  const form = uploadForm(`Text of ${name}.`, name, metadata ? { metadata: JSON.stringify(metadata) } : {})
  const { id } = expectStatus(await organisation.client('POST', `/v2/documents?spaceId=${space.id}`, form), 201)
  await waitForDocument(organisation.client, id)
}

const list = (query: string, version = 2) =>
  organisation.client('GET', `/v${version}/documents?spaceId=${space.id}&${query}`)
const namesOf = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name)

describe('a list of version 2', () => {
  it.each([
    ['metadata.customer=acme', ['Alpha.md', 'Älpen.txt']],
    ['metadata.customer=acme&metadata.customer=corvo', ['Alpha.md', 'Älpen.txt', 'beta.md']],
    ['metadata.year=2021', ['Älpen.txt']],
    ['metadata.year.gte=2020', ['Älpen.txt', 'beta.md']],
    ['metadata.year.gte=2021&metadata.year.lte=2023', ['Älpen.txt']],
    ['metadata.date.gte=2024-05-01&metadata.date.lt=2024-06-01', ['beta.md']],
    ['metadata.published=true', ['Alpha.md']],
    ['metadata.a.b=x', ['Älpen.txt']],
    ['metadata.customer=acme&metadata.year=2019&status=ready', ['Alpha.md']],
    ['metadata.customer=nobody', []],
    ['name=alp', ['Alpha.md', 'gamma alpha.md']],
    ['namePrefix=alp', ['Alpha.md']],
    ['type=txt', ['Älpen.txt']],
    ['status=failed', []],
    [
      'createdFrom=2020-01-01&createdBefore=2999-01-01T00:00:00Z',
      ['Alpha.md', 'Älpen.txt', 'beta.md', 'gamma alpha.md'],
    ],
    ['createdBefore=2020-01-01', []],
  ])('with %s has the documents that match', async (query, names) => {
    const page = expectStatus(await list(`${query}&sort=name`), 200)
    expect(namesOf(page).toSorted()).toEqual(names.toSorted())
    expect(page.total).toBe(names.length)
  })

  it('is read page by page, by offset or after the last document', async () => {
    const query = 'metadata.customer=acme&metadata.customer=corvo&sort=name&limit=2'
    const first = expectStatus(await list(query), 200)
    expect(first).toMatchObject({ total: 3, limit: 2, offset: 0, next: expect.any(String) })
    const second = expectStatus(await list(`${query}&after=${encodeURIComponent(first.next)}`), 200)
    expect(namesOf(second)).toEqual(namesOf(expectStatus(await list(`${query}&offset=2`), 200)))
    expect(namesOf(second)).toHaveLength(1)
    expect(expectStatus(await list(`${query}&after=${encodeURIComponent(second.next)}`), 200)).toMatchObject({
      items: [],
      next: null,
    })
    expect(Object.keys(first.items[0])).toContain('contentSha256')
  })

  it('names unknown parameters, which have no effect', async () => {
    const answer = await list('metdata.customer=acme&metadata.customer=corvo')
    expect(answer.headers.get('x-ignored-params')).toBe('metdata.customer')
    expect(namesOf(expectStatus(answer, 200))).toEqual(['beta.md'])
  })

  it.each([
    ['metadata.year.gte', 'metadata.year.gte=1&metadata.year.gte=2'],
    ['metadata.', 'metadata.=1'],
    ['metadata.or', 'metadata.or=1'],
    ['metadata.x', `metadata.x=${'y'.repeat(501)}`],
    ['metadata.$x', 'metadata.$x=1'],
    ['type', 'type=exe'],
    ['sort', 'sort=size'],
    ['createdFrom', 'createdFrom=yesterday'],
    ['after', 'after=x'],
  ])('with a wrong %s is a 400 that names it', async (param, query) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { error: { param } } })
  })
})

it('a list of version 1 stays as it is: filters have no effect', async () => {
  const page = expectStatus(await list('metadata.customer=acme', 1), 200)
  expect(page).toMatchObject({ total: 4 })
  expect(Object.keys(page)).toEqual(['total', 'limit', 'offset', 'items'])
})

describe('a list of the console', () => {
  const documents = (filter: unknown) =>
    portico.operator('GET', `/api/spaces/${space.id}/documents?metadata=${encodeURIComponent(JSON.stringify(filter))}`)

  it('is restricted by a filter, and so is work on all that match', async () => {
    const page = expectStatus(await documents({ year: { gte: 2020 } }), 200)
    expect([page.total, namesOf(page)]).toEqual([1, ['beta.md']])
    const change = { filter: { metadata: { customer: 'corvo' } }, set: { checked: true } }
    const operation = expectStatus(
      await portico.operator('POST', `/api/spaces/${space.id}/documents/metadata`, change),
      202,
    )
    expect(operation).toMatchObject({ total: 1 })
    await expect.poll(async () => namesOf(expectStatus(await documents({ checked: true }), 200))).toEqual(['beta.md'])
  })

  it('with a wrong filter is a 400 that names its place', async () => {
    expect(await documents({ year: {} })).toMatchObject({
      status: 400,
      body: { error: { param: expect.stringMatching(/^metadata/) } },
    })
  })
})
