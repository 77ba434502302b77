import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertOrganisation, insertSpace } from '../../../test/harness/control-rows.ts'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createUuid, type OrganisationId, type SpaceId } from '../../platform/kernel/index.ts'
import { serviceActor } from '../../tenants/operators/index.ts'
import type { SpaceSnapshot } from './configuration.ts'
import { createGoldenErasure } from './golden-erasure.store.ts'
import { createGoldenResultStore } from './golden-results.store.ts'
import { maximumKeptRuns } from './golden-run.ts'
import { createGoldenRunStore } from './golden-runs.store.ts'
import type { MeasuredAnswer } from './measure-answer.ts'
import { defaultGoldenSettings } from './settings-change.ts'

const nowMs = Date.parse('2026-11-22T12:00:00Z')
const organisationId = createUuid(nowMs) as OrganisationId
const spaceId = createUuid(nowMs) as SpaceId

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
  await insertOrganisation(databases.control, organisationId)
  await insertSpace(databases.control, { id: spaceId, organisationId })
})
afterAll(() => databases.drop())

async function startRun(createdAt: number): Promise<string> {
  const content = { messages: [{ role: 'user' as const, content: 'Why?' }], expectedDocuments: [], expectedFacts: [] }
  const question = () => ({ ...content, id: createUuid(nowMs), mustAbstain: false })
  const run = {
    id: createUuid(createdAt),
    spaceId,
    organisationId,
    trigger: 'manual' as const,
    space: { instructions: '', model: 'm', settings: {} } as unknown as SpaceSnapshot,
    settings: defaultGoldenSettings,
    configuration: '',
    questions: [question(), question()],
    createdAt,
  }
  await createGoldenRunStore(databases.control).insert(run, serviceActor)
  return run.id
}
const endAll = () => databases.control.execute(`UPDATE golden_runs SET state = 'completed'`)

test('an erasure of a document removes the answers that its passages were given for, and keeps their measures', async () => {
  const [gone, stays] = [createUuid(nowMs), createUuid(nowMs)]
  const runId = await startRun(nowMs)
  const results = createGoldenResultStore(databases.control)
  const document = (id: string) => ({ id, name: `${id}.md` })
  const measured = { measures: { factShare: 1 }, facts: [true], failedMeasures: [] } as unknown as MeasuredAnswer
  const record = (place: number, retrieved: string[], cited: string[]) => {
    const detail = { ...measured, retrieved: retrieved.map(document), cited: cited.map(document) }
    return results.record(runId, place, { outcome: 'passed', answer: `Answer ${place}`, detail, costPicoUsd: 1n })
  }
  const places = await results.loadPending(runId)
  expect(places).toHaveLength(2)
  await record(places[0]!, [gone, stays], [stays])
  await record(places[1]!, [stays], [stays])
  const erasure = createGoldenErasure(databases.control)
  expect(await erasure.countLeft(organisationId, gone)).toBe(1)
  expect(await erasure.countLeft(createUuid(nowMs), gone)).toBe(0)
  const removed: number[] = []
  while (await erasure.eraseSome(organisationId, gone, async (_transaction, answers) => void removed.push(answers)))
    continue
  expect(removed).toEqual([1])
  expect(await erasure.countLeft(organisationId, gone)).toBe(0)
  const page = await results.loadPage(runId, { limit: 10, offset: 0 })
  expect(page.results.map(({ answer, detail }) => [answer, detail?.retrieved, detail?.measures])).toEqual([
    [null, [document(stays)], measured.measures],
    [`Answer ${places[1]}`, [document(stays)], measured.measures],
  ])
  await endAll()
})

test('the newest 30 runs of a Space are kept with their answers', async () => {
  const oldest = await startRun(nowMs + 1_000)
  for (let index = 0; index < maximumKeptRuns; index++) {
    await endAll()
    await startRun(nowMs + 2_000 + index)
  }
  const runs = await databases.control.query<{ id: string }>('SELECT id FROM golden_runs')
  expect(runs).toHaveLength(30)
  expect(runs.map(({ id }) => id)).not.toContain(oldest)
  const [left] = await databases.control.query<{ count: number }>(
    'SELECT count(DISTINCT run_id)::int4 AS count FROM golden_results',
  )
  expect(left!.count).toBe(30)
})
