import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ApiAnswer,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** Settings that several people change: `if-match` keeps one from overwriting what another has changed since. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation)
  const put = async (path: string, body: object) => expectStatus(await portico.operator('PUT', path, body), 200)
  await put('/api/providers/versioned', { format: 'openai', baseUrl: 'https://models.example/v1', apiKey: 'a-key' })
  await put('/api/models/versioned', { kind: 'chat' })
  await put('/api/deployments/versioned%2Fmodel', { model: 'versioned', provider: 'versioned', wireId: 'm' })
})
afterAll(() => portico?.stop())

const codeOf = ({ status, body }: ApiAnswer) => [status, body.error.code]

const resources = [
  {
    name: 'a Space',
    at: () => `/api/spaces/${space.id}`,
    changes: [{ instructions: 'One.' }, { instructions: 'Two.' }, { instructions: 'Three.' }],
  },
  {
    name: 'an organisation',
    at: () => `/api/organisations/${organisation.id}`,
    changes: [3, 4, 5].map((concurrentUploads) => ({ limits: { concurrentUploads } })),
  },
  {
    name: 'golden questions',
    at: () => `/api/spaces/${space.id}/golden-questions/settings`,
    changes: [1, 2, 3].map((maximumCostUsd) => ({ maximumCostUsd })),
  },
  {
    name: 'a provider',
    at: () => '/api/providers/versioned',
    changes: ['eu', 'us', 'global'].map((hosting) => ({ hosting })),
  },
  {
    name: 'a provider of another source',
    at: () => '/api/providers/portico',
    changes: [{ enabled: false }, { enabled: true }, { enabled: false }],
  },
  {
    name: 'a model',
    at: () => '/api/models/versioned',
    changes: [1000, 2000, 3000].map((contextTokens) => ({ contextTokens })),
  },
  {
    name: 'a deployment',
    at: () => '/api/deployments/versioned%2Fmodel',
    changes: [2, 3, 4].map((weight) => ({ weight })),
  },
  {
    name: 'alerts',
    at: () => '/api/alerts/settings',
    changes: [80, 81, 82].map((threshold) => ({ kinds: { disk: { threshold } } })),
  },
]

describe.each(resources)('the settings of $name', ({ at, changes: [first, second, third] }) => {
  const load = async () => expectStatus(await portico.operator('GET', at()), 200)
  const change = (body: object | undefined, version?: string) =>
    portico.operator('PATCH', at(), body, version === undefined ? {} : { 'if-match': `"${version}"` })

  it('are changed under the version that was read, and not under an older one', async () => {
    const before = await load()
    const changed = expectStatus(await change(first, before.version), 200)
    expect(changed.version).not.toBe(before.version)
    expect(await load()).toMatchObject({ ...first, version: changed.version })
    const refused = await change(second, before.version)
    expect(codeOf(refused)).toEqual([409, 'conflict'])
    expect(refused.body.error.param).toBe('if-match')
    expect(await load()).toMatchObject({ ...first, version: changed.version })
    expectStatus(await change(second, changed.version), 200)
  })

  it('are changed by one of two requests at once', async () => {
    const { version } = await load()
    const answers = await Promise.all([change(first, version), change(third, version)])
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 409])
    expect(await load()).toMatchObject((statuses[0] === 200 ? first : third)!)
  })

  it('are changed without the header as before, and a malformed one is refused', async () => {
    expectStatus(await change(first), 200)
    const malformed = await portico.operator('PATCH', at(), second, { 'if-match': 'W/"x"' })
    expect(malformed).toMatchObject({ status: 400, body: { error: { param: 'if-match' } } })
    expect(await load()).toMatchObject(first!)
  })
})

describe('the version of a provider', () => {
  const at = '/api/providers/versioned'
  const load = async () => expectStatus(await portico.operator('GET', at), 200)

  it('is the same in the console, and after a change to the same values', async () => {
    const { version, hosting } = await load()
    const { items } = expectStatus(await portico.operator('GET', '/api/console/providers?search=versioned'), 200)
    expect(items).toMatchObject([{ version }])
    expectStatus(await portico.operator('PATCH', at, { hosting }, { 'if-match': `"${version}"` }), 200)
    expect((await load()).version).toBe(version)
  })

  it('changes with a key that looks the same, so that a second new key is refused', async () => {
    const { version } = await load()
    const replace = (apiKey: string) => portico.operator('PATCH', at, { apiKey }, { 'if-match': `"${version}"` })
    const changed = expectStatus(await replace('sk-one-key-of-tests-1234'), 200)
    const same = await portico.operator('PATCH', at, { apiKey: 'sk-two-key-of-tests-1234' })
    expect(expectStatus(same, 200).version).not.toBe(changed.version)
    expect(codeOf(await replace('sk-three-key-of-tests-1234'))).toEqual([409, 'conflict'])
  })

  it('is checked by PUT as well', async () => {
    const { version } = await load()
    const put = (hosting: string) => {
      const body = { format: 'openai', baseUrl: 'https://models.example/v1', hosting }
      return portico.operator('PUT', at, body, { 'if-match': `"${version}"` })
    }
    expectStatus(await put('local'), 200)
    expect(codeOf(await put('us'))).toEqual([409, 'conflict'])
  })
})
