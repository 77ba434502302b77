import { readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type DatabasePlace, freshDatabasePlace } from '../harness/database.ts'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import { expectStatus, type SeparatePortico, startSeparatePortico, type TestOrganisation } from '../harness/portico.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { archiveFiles, exportArchive, fillSpace, importArchive } from '../harness/space-archives.ts'
import { testSeed } from '../harness/seed.ts'

/** Export and import of a Space under kill -9. */

const kills = 5
const settings = { ollama: { detect: false }, embeddings: { kind: 'hashing' } }
const files = [
  ...archiveFiles,
  ...Array.from({ length: 14 }, (_, number) => [`more-${number}.txt`, longText(number)] as const),
]

function longText(number: number): string {
  return Array.from(
    { length: 1_200 },
    (_, line) => `In room ${line} of house ${number} there are ${line * 7} chairs.`,
  ).join(' ')
}

let place: DatabasePlace
let portico: SeparatePortico
let source: TestOrganisation
let spaceId: string
let archive: Buffer

beforeAll(async () => {
  place = await freshDatabasePlace()
  portico = await startSeparatePortico({ settings, place })
  source = await portico.createOrganisation()
  const space = await portico.createSpace(source, { name: 'Houses' })
  spaceId = space.id
  await fillSpace(source, space, files)
  archive = await exportArchive(portico, spaceId)
}, 300_000)
afterAll(async () => {
  await portico?.stop()
  await place?.remove()
})

/** The archive in pieces, and a call of `reach` when this share of it was taken. */
function upTo(share: number, reach: () => void): ReadableStream {
  const pieceBytes = 16 * 1024
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= archive.length * share) reach()
      controller.enqueue(archive.subarray(at, (at += pieceBytes)))
      if (at >= archive.length) controller.close()
    },
  })
}

const countBlobs = (organisationId: string) => {
  try {
    return readdirSync(path.join(place.dataFolder, 'blobs', organisationId), {
      recursive: true,
      withFileTypes: true,
    }).filter((entry) => entry.isFile()).length
  } catch {
    return 0
  }
}

/** Or until a time limit. */
const untilStored = (organisationId: string) =>
  vi.waitUntil(() => countBlobs(organisationId) > 0, { timeout: 100_000, interval: 10 }).catch(() => false)

it('shows no Space of an import that is killed, removes its files, and imports the same archive afterwards', async () => {
  const seed = testSeed
  const random = seededRandom(seed)
  const target = await portico.createOrganisation({ name: 'Target' })
  let stored = 0
  for (let kill = 0; kill < kills; kill++) {
    const reached = Promise.withResolvers<void>()
    const importing = importArchive(portico, target.id, upTo((kill + random()) / kills, reached.resolve)).catch(
      () => undefined,
    )
    // An import that ends before is not interrupted: its answer is compared below.
    await Promise.race([reached.promise, importing])
    await wait(random() * 200)
    // A busy service may be far behind the client.
    if (kill === kills - 1 && stored === 0) await Promise.race([untilStored(target.id), importing])
    await portico.kill('SIGKILL')
    const answer = await importing
    stored = Math.max(stored, countBlobs(target.id))
    portico = await startSeparatePortico({ settings, place })
    const { items } = expectStatus(await portico.operator('GET', `/api/spaces?organisationId=${target.id}`), 200)
    expect(items, `seed ${seed}`).toHaveLength(answer?.status === 201 ? 1 : 0)
    for (const { id } of items) expectStatus(await portico.operator('DELETE', `/api/spaces/${id}`), 204)
  }
  expect(stored, `seed ${seed}`).toBeGreaterThan(0)
  // On a server the lease of the last import ends after two minutes.
  await vi.waitUntil(() => countBlobs(target.id) === 0, { timeout: 200_000, interval: 500 })
  const imported = expectStatus(await importArchive(portico, target.id, archive), 201)
  expect(imported).toMatchObject({ documents: files.length, processing: 0, embedding: 'kept' })
  expect(countBlobs(target.id)).toBe(files.length)
  const audit = expectStatus(await portico.operator('GET', '/api/audit'), 200)
  expect(
    audit.findings.filter(({ area }: { area: string }) => area !== 'ledger'),
    `seed ${seed}`,
  ).toEqual([])
}, 400_000)

it('ends the archive of an export that is killed before its manifest', async () => {
  const response = await fetch(`${portico.url}/api/spaces/${spaceId}/export`, {
    headers: { authorization: `Bearer ${portico.operatorToken}` },
  })
  const reader = response.body!.getReader()
  await reader.read()
  await portico.kill('SIGKILL')
  const rest = (async () => {
    for (;;) if ((await reader.read()).done) return 'complete'
  })()
  await expect(rest).rejects.toThrow()
  portico = await startSeparatePortico({ settings, place })
  expect((await exportArchive(portico, spaceId)).length).toBeGreaterThan(archive.length * 0.9)
}, 120_000)

it('keeps the event loop free during export and import', async () => {
  const target = await portico.createOrganisation({ name: 'Responsive' })
  await expectResponsive(portico, async () => {
    const exported = await exportArchive(portico, spaceId)
    expectStatus(await importArchive(portico, target.id, exported), 201)
  })
}, 300_000)
