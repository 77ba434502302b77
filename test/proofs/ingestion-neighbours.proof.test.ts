import { afterAll, beforeAll, expect, it } from 'vitest'
import { isOcrInstalled } from '../../src/documents/ingestion/ocr/engine.ts'
import { buildTextPdf, type PdfText } from '../../src/documents/ingestion/testing/build-documents.ts'
import { buildScannedPdf } from '../../src/documents/ingestion/testing/scanned-pdf.ts'
import { expectStatus, type SeparatePortico, startSeparatePortico, uploadForm } from '../harness/portico.ts'

/**
 * Whatever one organisation uploads, the documents of another one are read between the batches of its documents. Turns are counted, not time: what
 * was being read when the others came is still being read when they are ready.
 */

let portico: SeparatePortico
beforeAll(async () => void (portico = await startSeparatePortico()))
afterAll(() => portico?.stop())

type Organisation = Awaited<ReturnType<typeof openOrganisation>>

async function openOrganisation(name: string) {
  const organisation = await portico.createOrganisation({ name })
  const { id: spaceId } = await portico.createSpace(organisation)
  const list = async () =>
    expectStatus(await portico.operator('GET', `/api/spaces/${spaceId}/documents?limit=100`), 200).items as {
      id: string
      name: string
      status: string
      stage: string
    }[]
  return {
    list,
    statusOf: async (id: string) => (await list()).find((document) => document.id === id)?.status,
    async upload(content: string | Uint8Array, fileName: string): Promise<string> {
      const target = `/v2/documents?spaceId=${spaceId}`
      return expectStatus(await organisation.client('POST', target, uploadForm(content, fileName)), 201).id
    },
  }
}

const line = (row: number) => `${row} The committee met again and agreed on the plan for the harbour`
const page = (number: number) => ({
  texts: [50, 320].flatMap((x): PdfText[] =>
    Array.from({ length: 55 }, (_, row) => ({ text: line(number * 55 + row), x, y: 740 - row * 12, size: 8 })),
  ),
})

/** Minutes of work: 20 large pdfs, a csv of a million columns, and scans if they can be read. Resolves to the csv's id. */
async function flood({ upload }: Organisation): Promise<string> {
  const columns = (letter: string) => Array.from({ length: 1_000_000 }, (_, column) => `${letter}${column}`).join(',')
  const wide = await upload(`${columns('c')}\n${columns('v')}\n`, 'wide.csv')
  const pdf = buildTextPdf(Array.from({ length: 400 }, (_, number) => page(number)))
  for (let number = 0; number < 20; number++) await upload(pdf, `report-${number}.pdf`)
  if (!isOcrInstalled()) return wide
  const scan = await buildScannedPdf(Array.from({ length: 20 }, (_, number) => page(number).texts))
  for (let number = 0; number < 3; number++) await upload(scan, `scan-${number}.pdf`)
  return wide
}

/** Minutes without it are a fault. */
const untilReady = ({ statusOf }: Organisation, id: string) =>
  expect.poll(() => statusOf(id), { interval: 200, timeout: 300_000 }).toBe('ready')

async function countEnded({ list }: Organisation): Promise<number> {
  return (await list()).filter(({ status }) => status !== 'processing').length
}

interface Times {
  smallMs: number
  textMs: number
}

/** Uploads a small file and a text of 600 KB, and calls `onSmall` when the small one is ready. Milliseconds from each upload until it is ready. */
async function measure(organisation: Organisation, onSmall: () => Promise<void> = async () => {}): Promise<Times> {
  const text = 'The keeper of the lighthouse writes the log every evening.\n\n'.repeat(10_500)
  const startedMs = performance.now()
  const since = () => Math.round(performance.now() - startedMs)
  const small = organisation.upload('# Rules\n\nThe lamp burns from dusk.', 'rules.md')
  const large = organisation.upload(text, 'log.txt')
  const textReady = large.then((id) => untilReady(organisation, id)).then(since)
  await untilReady(organisation, await small)
  const smallMs = since()
  await onSmall()
  return { smallMs, textMs: await textReady }
}

it('a text of 600 KB and a small file of another organisation do not wait for large documents and scans', async () => {
  const [busy, other] = [await openOrganisation('Busy'), await openOrganisation('Other')]
  const alone = await measure(other)
  const wide = await flood(busy)
  // Its large documents are read when the others come.
  const isRead = async () =>
    (await busy.list()).some(({ status, stage }) => status === 'processing' && stage !== 'queued')
  await expect.poll(isRead).toBe(true)
  const before = await countEnded(busy)
  const next = await measure(other, async () => expect((await countEnded(busy)) - before).toBeLessThanOrEqual(3))
  console.log(
    `ready after, ms: small file ${next.smallMs} (alone ${alone.smallMs}), text ${next.textMs} (alone ${alone.textMs})`,
  )
  // It is read by the worker of large documents, which the csv has had before it; the others read the pdfs meanwhile.
  const statuses = (await busy.list()).map(({ status }) => status)
  expect(await busy.statusOf(wide)).toBe('processing')
  expect(statuses).toContain('processing')
}, 900_000)
