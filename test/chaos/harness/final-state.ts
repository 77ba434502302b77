import { expect } from 'vitest'
import { withoutPooler } from '../../harness/database.ts'
import { compareLedger } from '../../harness/ledger-crash/compare-ledger.ts'
import { blindSpots } from '../../harness/ledger-crash/final-checks.ts'
import { type LedgerTables, readLedgerTables } from '../../harness/ledger-crash/ledger-tables.ts'
import { expectStatus } from '../../harness/portico.ts'
import { hangsAfterMs } from './instance.ts'
import { isAlive } from './processes.ts'
import type { ChaosStage } from './stage.ts'

/** What the faults may not have left behind. Each function resolves to one line per fault. */

/**
 * Ends the load and the service, and compares all that clients received with what is stored: every answer is billed once, every accepted
 * document is processed, nothing is left open. `found` is empty where all is right.
 */
export async function endAndCompare(stage: ChaosStage): Promise<{ found: string[]; figures: Record<string, number> }> {
  const { instances, load, provider } = stage
  await load.stop()
  await expect.poll(() => openHolds(stage), { timeout: hangsAfterMs }).toEqual([])
  await expectAllFinished(stage)
  for (const instance of instances) {
    await expect.poll(() => instance.metric('portico_running_requests'), { timeout: hangsAfterMs }).toBe(0)
  }
  await provider.upstream.quiet()
  const found = [...(await documentsOf(stage)), ...(await stage.audit())]
  const pids = instances.flatMap((instance) => instance.pids())
  const codes = await Promise.all(instances.map((instance) => instance.stop()))
  for (const code of codes) if (code !== 0) found.push(`an instance stopped with ${code}`)
  for (const pid of pids) if (isAlive(pid)) found.push(`the process ${pid} is left`)
  const { faults, figures, tables } = await compareAll(stage)
  found.push(...faults, ...load.internalErrors(), ...blindSpots(load.records, tables, provider))
  return { found, figures }
}

/** A repeated document waits up to some minutes, and a busy machine takes long for thousands: only a time without any progress is a fault. */
async function expectAllFinished(stage: ChaosStage): Promise<void> {
  let left = await unfinished(stage)
  while (left.length > 0) {
    await expect.poll(async () => (await unfinished(stage)).length, { timeout: hangsAfterMs }).toBeLessThan(left.length)
    left = await unfinished(stage)
  }
}

/** Organisations with held money. */
async function openHolds({ operator, callers, team }: ChaosStage): Promise<string[]> {
  const held: string[] = []
  for (const { id } of [...callers, team]) {
    const { heldUsd } = expectStatus(await operator('GET', `/api/organisations/${id}/budget`), 200)
    if (Number(heldUsd) !== 0) held.push(`${id} has ${heldUsd} held`)
  }
  return held
}

interface ListedDocument {
  id: string
  name: string
  status: string
}

async function listDocuments({ team, space }: ChaosStage): Promise<ListedDocument[]> {
  const documents: ListedDocument[] = []
  for (;;) {
    const target = `/v1/documents?spaceId=${space.id}&limit=100&offset=${documents.length}`
    const { items } = expectStatus(await team.client('GET', target), 200)
    if (items.length === 0) return documents
    documents.push(...items)
  }
}

/** Documents that are still processed. */
async function unfinished(stage: ChaosStage): Promise<string[]> {
  return (await listDocuments(stage)).filter(({ status }) => status === 'processing').map(({ name }) => name)
}

/**
 * Every accepted upload is ready, and every deleted one is gone. An upload or a deletion whose client saw no answer has happened once or not at
 * all.
 */
async function documentsOf(stage: ChaosStage): Promise<string[]> {
  const documents = await listDocuments(stage)
  const found: string[] = []
  for (const { name, id, deletion } of stage.load.uploads) {
    const same = documents.filter((document) => document.name === name)
    if (same.length > 1) found.push(`${name} is there ${same.length} times`)
    if (deletion === 'acknowledged' && same.length > 0) found.push(`${name} was deleted and is ${same[0]!.status}`)
    if (deletion === undefined && id !== undefined && same[0]?.status !== 'ready')
      found.push(`${name} was accepted and is ${same[0]?.status}`)
    if (same.some(({ status }) => status !== 'ready')) found.push(`${name} is ${same[0]?.status}`)
  }
  return found
}

/** Compares the tables with what clients received and the provider sent. No process of the service may run. */
async function compareAll({ place, callers, team, load, provider }: ChaosStage) {
  const read = await readLedgerTables(withoutPooler(place))
  const ofCallers = <T extends { organisationId: string }>(rows: T[]) =>
    rows.filter(({ organisationId }) => callers.some(({ id }) => id === organisationId))
  const tables: LedgerTables = { ...read, entries: ofCallers(read.entries), periods: ofCallers(read.periods) }
  const { faults, figures } = compareLedger(load.records, tables, provider.sent)

  const ofTeam = read.entries.filter(({ organisationId }) => organisationId === team.id)
  const times = new Map<string, number>()
  for (const { requestId } of ofTeam) times.set(requestId, (times.get(requestId) ?? 0) + 1)
  for (const [requestId, count] of times) if (count > 1) faults.push(`chat ${requestId} has ${count} entries`)
  for (const { requestId, isWhole } of load.chats)
    if (isWhole && !times.has(requestId!)) faults.push(`chat ${requestId} was answered and is not in the ledger`)
  if (times.size > load.chats.length) faults.push(`${times.size} chats are billed, ${load.chats.length} were sent`)
  const counts: Record<string, number> = {
    ...figures,
    chats: load.chats.length,
    uploads: load.uploads.length,
    deletions: load.uploads.filter(({ deletion }) => deletion === 'acknowledged').length,
  }
  return { faults, tables, figures: counts }
}
