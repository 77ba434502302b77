import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertOrganisation, insertSpace } from '../../../test/harness/control-rows.ts'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createUuid, silentLog } from '../../platform/kernel/index.ts'
import { createConversations } from './conversations.ts'

const startMs = Date.parse('2026-11-21T18:00:00Z')
const organisationId = createUuid(startMs)
const spaceId = createUuid(startMs)
const documentId = createUuid(startMs)

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
  await insertOrganisation(databases.control, organisationId)
  await insertSpace(databases.control, { id: spaceId, organisationId, settings: { keepConversations: true } })
})
afterAll(() => databases.drop())

const subjectDigest = (...parts: string[]) => parts.join(' ')
const accept = (kind: string, value: string, atMs: number) =>
  databases.control.execute(
    `INSERT INTO erasures (id, organisation_id, kind, subject_digest, subject_sealed, requested_at, requested_by, log_entry_ids, held_until)
     VALUES ($1, $2, $3, $4, '', $5, 'operator', '{}', now())`,
    [createUuid(atMs), organisationId, kind, subjectDigest(organisationId, kind, value), new Date(atMs)],
  )

test('an answer that ends after its visitor or a cited document was erased is not stored', async () => {
  const clock = createFakeClock(startMs)
  const service = createConversations({ database: databases.control, subjectDigest, clock, log: silentLog })
  const begin = (user: string | null, question: string) =>
    service.begin({
      requestId: `req_${question}`,
      organisationId,
      spaceId,
      user,
      messages: [{ role: 'user', content: question }],
      model: 'm',
    })
  const answer = (cited: string[] = []) => ({
    outcome: 'complete' as const,
    errorCode: null,
    text: 'A',
    references: cited.map((id, index) => ({ id: index + 1, title: 'file.md', documentId: id })),
    sources: [],
    receipts: [],
    firstTextMs: 10,
    totalMs: 20,
  })
  const running = begin('visitor', 'asked before')
  const ofOther = begin('other', 'of another visitor')
  await accept('user', 'visitor', startMs + 1_000)
  await clock.advance(2_000)
  const later = begin('visitor', 'asked afterwards')
  const quoting = begin(null, 'of a document')
  await accept('document', documentId, startMs + 1_000)
  running(answer())
  ofOther(answer([createUuid(startMs)]))
  later(answer())
  quoting(answer([createUuid(startMs), documentId]))
  await service.flush()
  const rows = await databases.control.query<{ question: string }>('SELECT question FROM conversation_turns ORDER BY 1')
  expect(rows.map(({ question }) => question)).toEqual(['asked afterwards', 'of another visitor'])
  await service.close()
})
