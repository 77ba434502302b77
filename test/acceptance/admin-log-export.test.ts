import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Browser, createPerson } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'

/** The export of the admin log, for operators and for administrators of an organisation. */

let portico: TestPortico
let organisation: TestOrganisation
let administrator: Browser
let other: Browser

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  const second = await portico.createOrganisation()
  const role = 'administrator'
  administrator = await createPerson(portico, { email: 'a@example.org', role, organisationId: organisation.id })
  other = await createPerson(portico, { email: 'b@example.org', role, organisationId: second.id })
})
afterAll(() => portico?.stop())

const path = (query = '') => `/api/organisations/${organisation.id}/admin-log/export${query}`
const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

it('has the entries of the organisation only, oldest first, and records who exported', async () => {
  const answer = await administrator.call('GET', path())
  expectStatus(answer, 200)
  expect(answer.headers.get('content-type')).toBe('application/jsonl; charset=utf-8')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="admin-log.jsonl"')
  const entries = linesOf(answer.body)
  expect(entries[0]).toMatchObject({ action: 'organisation.created', actor: 'operator' })
  expect(new Set(entries.map(({ organisationId }) => organisationId))).toEqual(new Set([organisation.id]))
  const again = linesOf((await administrator.call('GET', path('?action=admin_log.exported'))).body)
  expect(again).toHaveLength(1)
  expect(again[0]).toMatchObject({ actor: 'a@example.org', subjectType: 'admin_log', after: { format: 'jsonl' } })
})

it('is closed to administrators of other organisations, and that of all to everyone but operators', async () => {
  expect((await other.call('GET', path())).status).toBe(404)
  expect((await administrator.call('GET', '/api/admin-log/export')).status).toBe(403)
  const csv = await portico.operator('GET', '/api/admin-log/export?format=csv&action=organisation.created')
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(String(csv.body).trim().split('\r\n')).toHaveLength(3)
  expect((await portico.operator('GET', '/api/admin-log/export?limit=3&cursor=x')).status).toBe(200)
  expect((await portico.operator('GET', '/api/admin-log/export?format=xml')).status).toBe(400)
})
