import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConsoleOrganisationsBody } from '../../src/contract/console-organisations.ts'
import type { ConsoleSystemBody } from '../../src/contract/console-system.ts'
import { type ApiAnswer, expectStatus, startPortico, type TestPortico, uploadForm } from '../harness/portico.ts'

/** The views of the operator's pages. test/acceptance/roles.test.ts checks who may read them. */

let portico: TestPortico
beforeAll(async () => {
  // Without workers a document waits in the queue.
  portico = await startPortico({ settings: { ingestion: { workers: 0 } } })
})
afterAll(() => portico.stop())

const get = async (path: string) => expectStatus(await portico.operator('GET', path), 200)

describe('GET /api/console/organisations', () => {
  const listed = async (query: string): Promise<ConsoleOrganisationsBody> => get(`/api/console/organisations?${query}`)
  const names = async (query: string) => (await listed(query)).items.map(({ name }) => name)

  beforeAll(async () => {
    const spender = await portico.createOrganisation({ name: 'Spender', monthlyBudgetUsd: '0.01', markupPercent: '50' })
    await portico.createOrganisation({ name: 'Saver', monthlyBudgetUsd: '1000' })
    await portico.createOrganisation({ name: 'Closed 50%_off', plan: 'team', gatewayOptIn: false })
    const ended = { status: 'cancelled', startsAt: '2020-01-01T00:00:00Z', endsAt: '2020-02-01T00:00:00Z' }
    await portico.createOrganisation({ name: 'Ended', subscription: ended })
    await portico.operator('POST', '/api/spaces', {
      organisationId: spender.id,
      name: 'One',
      model: 'portico/offline',
    })
    // The offline model is free, so the ledger's rows state what was spent: 0.005 in the period, 0.0025 in a lease.
    const { period } = await get(`/api/organisations/${spender.id}/budget`)
    const { control } = portico.service
    const changed = await control.execute(
      `UPDATE ledger_periods SET committed_pico_usd = 7500000000, settled_pico_usd = 5000000000 WHERE organisation_id = $1`,
      [spender.id],
    )
    expect(changed).toBe(1)
    await control.execute(
      `INSERT INTO ledger_leases (organisation_id, period, instance_id, granted_pico_usd, settled_pico_usd)
       VALUES ($1, $2, gen_random_uuid(), 2500000000, 2500000000)`,
      [spender.id, period],
    )
  })

  test('shows budget, spending, key and whether the gateway is open', async () => {
    const { items, total } = await listed('search=spend')
    expect(total).toBe(1)
    expect(items[0]).toMatchObject({
      name: 'Spender',
      plan: 'enterprise',
      subscription: { active: true },
      gatewayOpen: true,
      monthlyBudgetUsd: '0.01',
      spentUsd: '0.0075',
      spentPercent: 75,
      apiKey: { prefix: expect.stringMatching(/^ptc_/), lastFour: expect.stringMatching(/^\w{4}$/) },
      spaces: 1,
      members: 0,
    })
  })

  test('sorts, with missing values last in both directions', async () => {
    expect(await names('sort=name&direction=asc')).toEqual(['Closed 50%_off', 'Ended', 'Saver', 'Spender'])
    expect((await names('sort=spentPercent&direction=desc'))[0]).toBe('Spender')
    expect((await names('sort=monthlyBudget&direction=desc'))[0]).toBe('Saver')
    expect((await names('sort=subscriptionEnd&direction=asc'))[0]).toBe('Ended')
    expect((await names('sort=subscriptionEnd&direction=desc'))[0]).toBe('Ended')
    expect(await names('sort=createdAt&direction=desc&limit=1')).toEqual(['Ended'])
  })

  test('searches and filters', async () => {
    expect(await names('search=50%25_')).toEqual(['Closed 50%_off'])
    const [saver] = (await listed('search=saver')).items
    expect(await names(`search=${saver!.id}`)).toEqual(['Saver'])
    expect((await names('gateway=open&sort=name&direction=asc')).toString()).toBe('Saver,Spender')
    expect((await names('gateway=closed&sort=name&direction=asc')).toString()).toBe('Closed 50%_off,Ended')
    expect(await names('plan=team')).toEqual(['Closed 50%_off'])
  })

  test('pages have no gap and no repetition', async () => {
    const seen = [...(await names('limit=2&sort=plan')), ...(await names('limit=2&sort=plan&offset=2'))]
    expect(seen.toSorted()).toEqual(['Closed 50%_off', 'Ended', 'Saver', 'Spender'])
  })

  test.each([
    ['sort=password', 'sort'],
    ['limit=101', 'limit'],
    ['offset=100001', 'offset'],
    ['gateway=ajar', 'gateway'],
  ])('refuses %s and names the field', async (query, param) => {
    const { status, body } = await portico.operator('GET', `/api/console/organisations?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('of one organisation has its fields, budget, counts, models and last changes', async () => {
    const [row] = (await listed('search=spender')).items
    const page = await get(`/api/console/organisations/${row!.id}`)
    expect(page).toMatchObject({
      organisation: { name: 'Spender', markupPercent: '50', limits: { concurrentCalls: 256 } },
      gatewayOpen: true,
      budget: { budgetUsd: '0.01', spentUsd: '0.0075', spentPercent: 75 },
      spaces: 1,
      publishedSpaces: 0,
      members: 0,
      openInvitations: 0,
    })
    expect(page.models).toContain('portico/offline')
    expect(page.changes.map(({ action }: { action: string }) => action)).toEqual([
      'space.created',
      'api_key.created',
      'organisation.updated',
      'organisation.created',
    ])
    const missing = await portico.operator('GET', `/api/console/organisations/${crypto.randomUUID()}`)
    expect([missing.status, missing.body.error.code]).toEqual([404, 'organisation_not_found'])
  })
})

describe('GET /api/console/system', () => {
  test('shows a waiting document, this instance, storage and the search index', async () => {
    const organisation = await portico.createOrganisation({ name: 'Uploader' })
    const space = await portico.createSpace(organisation)
    const path = `/v1/documents?spaceId=${space.id}`
    const uploaded: ApiAnswer = await organisation.client('POST', path, uploadForm('Some text.', 'waiting.txt'))
    expectStatus(uploaded, 201)
    const system: ConsoleSystemBody = await get('/api/console/system')
    const waiting = system.queue.kinds.filter(({ ready }) => ready > 0)
    expect(waiting).toEqual([
      {
        kind: expect.stringContaining('document'),
        ready: 1,
        delayed: 0,
        running: 0,
        retrying: 0,
        oldestWaitingAt: expect.stringMatching(/^20/),
      },
    ])
    expect(system.queue.organisations).toEqual([
      { organisationId: organisation.id, organisationName: 'Uploader', waiting: 1 },
    ])
    expect(system.instances).toHaveLength(1)
    expect(system.instances[0]).toMatchObject({ current: true, alive: true })
    expect(system.process).toMatchObject({ version: expect.stringMatching(/^\d/), extractors: null })
    expect(system.process.samples.at(-1)!.residentBytes).toBeGreaterThan(1e6)
    expect(system.storage).toMatchObject({
      documents: { ready: 0, processing: 1, failed: 0, chunks: 0 },
      blobs: { files: 1, bytes: 'Some text.'.length },
    })
    expect(system.storage!.databases.map(({ name }) => name)).toEqual(['control', 'corpus'])
    for (const { bytes, tables } of system.storage!.databases) expect(bytes).toBeGreaterThan(tables[0]!.bytes)
    expect(system.search.embeddingVersions[0]).toMatchObject({ state: 'active' })
  })

  test('shows failed documents, jobs that wait for another attempt, and jobs that were given up', async () => {
    await using place = await startPortico()
    const organisation = await place.createOrganisation({ name: 'Broken' })
    const space = await place.createSpace(organisation)
    const broken = uploadForm('%PDF-1.7 this is no document', 'broken.pdf')
    const { id } = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, broken), 201)
    const { corpus } = place.service
    await corpus.execute(
      `INSERT INTO job (kind, key, payload, organisation_id, state, attempt, run_after, failure)
       VALUES ('delete_blob', 'k', '{}', $1, 'delayed', 4, now() + interval '1 hour', 'the store does not answer')`,
      [organisation.id],
    )
    place.service.jobs.work(
      'test',
      { concurrency: 1, maximumAttempts: 1, backoffMs: 1, onExhausted: async () => {} },
      () => Promise.reject(new Error('no room on the disk')),
    )
    await corpus.transaction((transaction) =>
      place.service.jobs.enqueue(transaction, { kind: 'test', key: 'given up', payload: {} }),
    )
    const read = async (): Promise<ConsoleSystemBody> =>
      expectStatus(await place.operator('GET', '/api/console/system'), 200)
    await expect
      .poll(async () => {
        const { failedDocuments, queue } = await read()
        return [failedDocuments.length, queue.givenUp.length]
      })
      .toEqual([1, 1])
    const { failedDocuments, queue, process, events } = await read()
    expect(failedDocuments[0]).toMatchObject({
      id,
      spaceId: space.id,
      organisationName: 'Broken',
      name: 'broken.pdf',
      code: expect.stringMatching(/corrupt|unsupported|pdf/),
    })
    expect(queue.failing).toMatchObject([
      { kind: 'delete_blob', organisationName: 'Broken', attempt: 4, reason: 'the store does not answer' },
    ])
    expect(queue.givenUp).toMatchObject([
      { kind: 'test', organisationId: null, attempts: 1, reason: 'no room on the disk' },
    ])
    expect(process.extractors).toEqual({ processes: expect.any(Number), busy: 0, waiting: 0 })
    expect(events.map(({ message }) => message)).toContain('a job is given up')
  })
})
