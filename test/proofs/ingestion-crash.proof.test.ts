import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { buildDocx, buildTextPdf, docxParagraph } from '../../src/documents/ingestion/testing/build-documents.ts'
import { freshDatabasePlace, serviceVariables } from '../harness/database.ts'
import {
  type ApiClient,
  createApiClient,
  expectStatus,
  organisationMakers,
  type PorticoProcess,
  spawnPortico,
  uploadForm,
} from '../harness/portico.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { sharedDataFolder } from '../harness/shared-data.ts'
import { testSeed } from '../harness/seed.ts'

/** Ingestion under kill -9: every accepted upload ends once, as `ready` or `failed`, and nothing else remains. */

const kills = 10
const operatorToken = 'operator-token-of-the-crash-test'
/** Files of the shared corpus that are uploaded as well, where it is available. */
const corpusFiles = 25

interface Upload {
  name: string
  content: string | Uint8Array
  key: string
  documentId: string | undefined
}

it('documents uploaded in parallel during ten kills end as ready or failed, with none stuck, none duplicated and no orphan', async () => {
  const seed = testSeed
  const random = seededRandom(seed)
  const place = await freshDatabasePlace()
  const start = () => spawnPortico(serviceVariables(place, operatorToken))
  let portico = await start()
  const tenant = await makeTenant(portico)
  const uploads = makeUploads()
  let killedWhileProcessing = 0

  for (let kill = 1; kill <= kills; kill++) {
    const client = createApiClient(portico.url, tenant.apiKey)
    const share = uploads.slice(0, Math.ceil((uploads.length * kill) / kills))
    const sending = sendAll(client, tenant.spaceId, share)
    // Every second kill waits for a document that is being processed; the others occur at any moment of the uploads.
    if (await randomMoment(client, tenant.spaceId, { random, sending, processing: kill % 2 === 0 }))
      killedWhileProcessing++
    await portico.kill('SIGKILL')
    await sending
    portico = await start()
  }

  const client = createApiClient(portico.url, tenant.apiKey)
  await sendAll(client, tenant.spaceId, uploads)
  const documents = await waitForAll(client, tenant.spaceId)
  const hint = `seed ${seed}`
  expect(killedWhileProcessing, hint).toBeGreaterThan(0)
  // One document for each upload, regardless of how often it was sent.
  expect(documents.map((document) => document.id).sort(), hint).toEqual(uploads.map((one) => one.documentId).sort())
  for (const document of documents) {
    if (document.status === 'failed') expect(document.error, hint).toMatchObject({ code: expect.any(String) })
    else expect(document.status, hint).toBe('ready')
  }
  for (const { name, documentId } of uploads.filter((one) => one.name.startsWith('good-'))) {
    expect(
      documents.find((document) => document.id === documentId),
      `${name}, ${hint}`,
    ).toMatchObject({ status: 'ready' })
  }
  // The last start removes what the kills left; the only owner of an embedded engine may do so at once.
  await portico.kill('SIGTERM')
  portico = await start()
  const operator = createApiClient(portico.url, operatorToken)
  if (place.databaseUrl === undefined) await waitForBlobs(place.dataFolder, uploads.length)
  expect(await operator('GET', '/api/audit'), hint).toMatchObject({ status: 200, body: { ok: true, findings: [] } })
  await portico.kill('SIGTERM')
  await place.remove()
}, 900_000) // Only ends a hang: busy machines need minutes for the twelve starts. The waits below have separate limits.

/**
 * A random moment, counted in responses of the service and not in time, so that the work is equally far on a busy machine and on an
 * idle one. With `processing` the count begins when a document is being processed. Resolves to true when one is being processed then.
 */
async function randomMoment(
  client: ApiClient,
  spaceId: string,
  { random, sending, processing }: { random: () => number; sending: Promise<void>; processing: boolean },
): Promise<boolean> {
  let sent = false
  void sending.then(() => (sent = true))
  for (let answers = Math.floor(random() * 40); ;) {
    const wasSent = sent
    const { body } = await client('GET', `/v1/documents?spaceId=${spaceId}&limit=100`)
    const isProcessing = (body.items as Listed[]).some((item) => item.status === 'processing')
    if (isProcessing || !processing) answers--
    // All uploads of this share may be done before the count ends.
    if (answers < 0 || (wasSent && !isProcessing)) return isProcessing
    await wait(10)
  }
}

async function makeTenant(portico: PorticoProcess) {
  const makers = organisationMakers(portico.url, createApiClient(portico.url, operatorToken))
  const { apiKey, ...organisation } = await makers.createOrganisation()
  const space = await makers.createSpace({ ...organisation, apiKey })
  return { apiKey, spaceId: space.id }
}

function makeUploads(): Upload[] {
  const row = (n: number) =>
    `${n},customer ${n},${n * 37} euros,a remark about order ${n} that is long enough to be read`
  const csv = (rows: number) => ['id,name,total,remark', ...Array.from({ length: rows }, (_, n) => row(n))].join('\n')
  const pages = Array.from({ length: 40 }, (_, page) => ({
    texts: Array.from({ length: 30 }, (_, line) => ({
      text: `Page ${page} line ${line} of a report`,
      x: 72,
      y: 720 - line * 20,
    })),
  }))
  const made: [string, string | Uint8Array][] = [
    ...Array.from({ length: 6 }, (_, n): [string, string] => [`good-${n}.txt`, `Text number ${n}. `.repeat(50 + n)]),
    ...Array.from({ length: 3 }, (_, n): [string, string] => [`good-${n}.csv`, csv(500 + 2000 * n)]),
    ['good.md', `# Title\n\n${'A paragraph of a manual.\n\n'.repeat(300)}`],
    [
      'good.docx',
      buildDocx(Array.from({ length: 400 }, (_, n) => docxParagraph(`Paragraph ${n} of a letter.`)).join('')),
    ],
    ['good-pages.pdf', buildTextPdf(pages)],
    ['broken.pdf', '%PDF-1.7\nthis is no pdf'],
    ['empty.txt', ''],
  ]
  const folder = sharedDataFolder('docs')
  if (folder) {
    const { files } = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { files: { file: string }[] }
    const step = Math.ceil(files.length / corpusFiles)
    for (const { file } of files.filter((_, index) => index % step === 0)) {
      const content = readFileSync(path.join(folder, file))
      if (content.length < 2_000_000) made.push([path.basename(file), content])
    }
  }
  return made.map(([name, content], index) => ({ name, content, key: `upload-${index}`, documentId: undefined }))
}

/** Sends the uploads without a response, five at a time, each with its key; a killed server leaves some without one. */
async function sendAll(client: ApiClient, spaceId: string, uploads: Upload[]): Promise<void> {
  const queue = uploads.filter((upload) => upload.documentId === undefined)
  const worker = async () => {
    for (let upload = queue.shift(); upload; upload = queue.shift()) {
      const form = uploadForm(upload.content, upload.name)
      const answer = await client('POST', `/v1/documents?spaceId=${spaceId}`, form, {
        'idempotency-key': upload.key,
      }).catch(() => undefined)
      if (!answer) return
      upload.documentId = expectStatus(answer, 201).id as string
    }
  }
  await Promise.all(Array.from({ length: 5 }, worker))
}

interface Listed {
  id: string
  status: string
  error?: { code: string }
}

/** Longest time without any finished document; beyond it processing is stuck, not slow. */
const longestStandstillMs = 90_000

async function waitForAll(client: ApiClient, spaceId: string): Promise<Listed[]> {
  let deadline = Date.now() + longestStandstillMs
  let leastWaiting = Infinity
  for (;;) {
    const { total, items } = expectStatus(await client('GET', `/v1/documents?spaceId=${spaceId}&limit=100`), 200)
    expect(total).toBe(items.length)
    const waiting = (items as Listed[]).filter((item) => item.status === 'processing')
    if (waiting.length === 0) return items
    if (waiting.length < leastWaiting) {
      leastWaiting = waiting.length
      deadline = Date.now() + longestStandstillMs
    }
    if (Date.now() > deadline) throw new Error(`stuck in processing: ${JSON.stringify(waiting)}`)
    await wait(100)
  }
}

/** Files of the blob store, including partial ones. */
async function waitForBlobs(dataFolder: string, expected: number): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const entries = readdirSync(path.join(dataFolder, 'blobs'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).length
    if (files === expected) return
    if (Date.now() > deadline) throw new Error(`${files} files in the blob folder, expected ${expected}`)
    await wait(50)
  }
}
