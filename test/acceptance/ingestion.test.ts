import { setTimeout as wait } from 'node:timers/promises'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPdfWithFiles } from '../../src/documents/ingestion/testing/attached-pdf.ts'
import {
  buildDocx,
  buildTextPdf,
  buildZip,
  docxParagraph,
} from '../../src/documents/ingestion/testing/build-documents.ts'
import { SseParser, type SseEvent } from '../../src/platform/kernel/index.ts'
import { startWithSpace } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** From an upload to search results, with the operator's view and the effect on other organisations. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  ;({ portico, organisation, space } = await startWithSpace({ settings: { ingestion: { workers: 1 } } }))
})
afterAll(() => portico?.stop())

async function upload(content: string | Uint8Array, name: string, to = space, from = organisation): Promise<string> {
  return expectStatus(await from.client('POST', `/v1/documents?spaceId=${to.id}`, uploadForm(content, name)), 201).id
}
const remove = async (id: string) => expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
const progress = async (of = space, query = 'limit=100') =>
  expectStatus(await portico.operator('GET', `/api/spaces/${of.id}/documents?${query}`), 200)
const audit = async () => expectStatus(await portico.operator('GET', '/api/audit'), 200)

/** Names of the documents that an answer of the Space cites. */
async function ask(question: string, of = space, from = organisation): Promise<string[]> {
  const answer = await from.client('POST', `/v1/endpoints/${of.endpointId}/chat`, {
    messages: [{ role: 'user', content: question }],
  })
  return expectStatus(answer, 200).references.map((reference: { title: string }) => reference.title)
}

async function until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const found = await find()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`never came: ${what}`)
    await wait(15)
  }
}

/** A CSV for which a worker needs a second or more. */
const longCsv = (rows: number, word = 'zanzibar') =>
  [
    'id,name,remark',
    ...Array.from({ length: rows }, (_, n) => `${n},customer ${n},a remark on ${word} number ${n}`),
  ].join('\n')

describe('a document', () => {
  it('of each format becomes ready and is found', async () => {
    const files: [string, string | Uint8Array, string][] = [
      ['harbour.txt', 'The harbour master of Kolberg keeps a green parrot.', 'green parrot of the harbour master?'],
      [
        'recipe.md',
        '# Dumplings\n\nBoil the potato dumplings for eleven minutes.',
        'How long to boil potato dumplings?',
      ],
      ['stock.csv', 'article,amount\nturnbuckle,417\nshackle,12', 'amount of turnbuckle?'],
      ['letter.docx', buildDocx(docxParagraph('The lighthouse keeper retires in Ystad.')), 'lighthouse keeper Ystad?'],
      [
        'report.pdf',
        buildTextPdf([{ texts: [{ text: 'Submarine cables were laid near Valentia.', x: 72, y: 700 }] }]),
        'submarine cables Valentia?',
      ],
    ]
    for (const [name, content] of files) {
      const id = await upload(content, name)
      expect(await waitForDocument(organisation.client, id)).toMatchObject({ name, status: 'ready' })
    }
    for (const [name, , question] of files) expect(await ask(question)).toContain(name)
    const { items, counts } = await progress()
    expect(counts).toEqual({ processing: 0, ready: 5, failed: 0 })
    for (const item of items) expect(item).toMatchObject({ status: 'ready', stage: 'done', error: null, warnings: [] })
    for (const item of items) expect(item.chunkCount).toBeGreaterThan(0)
  })

  it('is decoded in the charset of its part’s Content-Type, and a guess is a warning', async () => {
    const chosen = await portico.createSpace(organisation)
    const bytes = iconv.encode('Цена 5 руб', 'maccyrillic')
    const send = async (type: string) => {
      const form = new FormData()
      form.append('metadata', '{"a":1}')
      form.append('file', new Blob([bytes], { type }), 'price.txt')
      const url = `/v1/documents?spaceId=${chosen.id}`
      const { id } = expectStatus(await organisation.client('POST', url, form), 201)
      const document = await waitForDocument(organisation.client, id)
      const { items } = expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks`), 200)
      return { document, text: items[0].text as string }
    }
    const declared = await send('text/plain; charset=x-mac-cyrillic')
    expect(declared.text).toContain('Цена 5 руб')
    expect(declared.document).toMatchObject({ status: 'ready', mimeType: 'text/plain' })
    expect(declared.document.warnings).toBeUndefined()
    const listed = await portico.operator('GET', `/api/spaces/${chosen.id}/documents`)
    expect(expectStatus(listed, 200).items[0].mimeType).toBe('text/plain')
    const guessed = await send('text/plain')
    expect(guessed.document).toMatchObject({ mimeType: 'text/plain', warnings: [{ code: 'encoding_guessed' }] })
  })

  it('that version 2 receives is read with its attachments, and served with the same type as by version 1', async () => {
    const file = buildPdfWithFiles('The text.', [{ name: 'terms.txt', content: 'The attached terms.' }])
    const read = async (version: 1 | 2) => {
      const chosen = await portico.createSpace(organisation)
      const url = `/v${version}/documents?spaceId=${chosen.id}`
      const { id } = expectStatus(await organisation.client('POST', url, uploadForm(file, 'contract.pdf')), 201)
      const document = await waitForDocument(organisation.client, id)
      const { items } = expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks`), 200)
      const view = expectStatus(await portico.operator('GET', `/api/documents/${id}/view`), 200)
      const types = [document.mimeType, view.document.mimeType]
      return { text: items.map(({ text }: { text: string }) => text).join('\n'), types, warnings: document.warnings }
    }
    const first = await read(1)
    const second = await read(2)
    expect(first.text).not.toContain('attached terms')
    expect(first.warnings).toMatchObject([{ code: 'embedded_content_skipped' }])
    expect(second.text).toContain('The attached terms.')
    expect(second.warnings).toBeUndefined()
    expect([...first.types, ...second.types]).toEqual(Array(4).fill('application/pdf'))
  })

  it('that cannot be read fails with a code and a message, shown to its owner and to the operator', async () => {
    const cases: [string, string | Uint8Array, string][] = [
      ['broken.pdf', '%PDF-1.7\nnot a pdf at all', 'corrupt_file'],
      ['empty.txt', '', 'empty_file'],
      ['blank.md', '   \n\n  ', 'no_text'],
      ['bomb.docx', bomb(), 'too_large_when_unpacked'],
    ]
    const other = await portico.createSpace(organisation)
    for (const [name, content, code] of cases) {
      const id = await upload(content, name, other)
      const document = await waitForDocument(organisation.client, id)
      expect(document, name).toMatchObject({
        status: 'failed',
        error: { code, message: expect.stringMatching(/\w.+\./) },
      })
      const listed = (await organisation.client('GET', `/v1/documents?spaceId=${other.id}&limit=1`)).body.items[0]
      expect(listed.error).toEqual(document.error)
      const changed = await organisation.client('PATCH', `/v1/documents/${id}`, { name: `renamed-${name}` })
      expect(changed.body).toMatchObject({ name: `renamed-${name}`, status: 'failed' })
    }
    const failed = await progress(other, 'status=failed')
    expect(failed).toMatchObject({ total: 4, counts: { processing: 0, ready: 0, failed: 4 } })
    expect(failed.items[0]).toMatchObject({ stage: 'failed', error: { code: 'too_large_when_unpacked' } })
    expect((await progress(other, 'status=ready')).items).toEqual([])
  })

  it('has warnings in get and list about unreadable parts, and none where everything was read', async () => {
    const own = await portico.createSpace(organisation)
    const sound = await upload('All of it can be read.', 'sound.txt', own)
    const damaged = await upload(
      Buffer.concat([Buffer.from('Größe und Länge der Brücke '.repeat(20)), Buffer.from([0xff, 0x20])]),
      'damaged.txt',
      own,
    )
    const warnings = [{ code: 'damaged_characters', message: expect.stringMatching(/^1 damaged character/) }]
    expect(await waitForDocument(organisation.client, damaged)).toMatchObject({ status: 'ready', warnings })
    expect(await waitForDocument(organisation.client, sound)).not.toHaveProperty('warnings')
    const listed = expectStatus(await organisation.client('GET', `/v1/documents?spaceId=${own.id}`), 200).items
    expect(listed).toMatchObject([{ id: damaged, warnings }, { id: sound }])
    expect(listed[1]).not.toHaveProperty('warnings')
    expect((await progress(own)).items).toMatchObject([{ warnings }, { warnings: [] }])
  })

  it('has its chunks in order for the operator, with exact positions', async () => {
    const text = `# One\n\n${'First part. '.repeat(200)}\n\n# Two\n\n${'Second part. '.repeat(200)}`
    const id = await upload(text, 'parts.md')
    await waitForDocument(organisation.client, id)
    const page = expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks?limit=500`), 200)
    expect(page.total).toBe(page.items.length)
    expect(page.items.map((chunk: { index: number }) => chunk.index)).toEqual([...page.items.keys()])
    expect(page.items.at(-1)).toMatchObject({ headingPath: ['Two'] })
    expect(
      expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks?limit=1&offset=1`), 200).items,
    ).toEqual([page.items[1]])
    for (const unknown of ['nonsense', '01930000-0000-7000-8000-000000000000']) {
      expect((await portico.operator('GET', `/api/documents/${unknown}/chunks`)).status).toBe(404)
    }
    await remove(id)
    expect((await portico.operator('GET', `/api/documents/${id}/chunks`)).status).toBe(404)
  })

  it('is cited by its new name and link after a PATCH, also during processing', async () => {
    const own = await portico.createSpace(organisation)
    const ready = await upload('The observatory at Pulkovo was rebuilt.', 'old.txt', own)
    await waitForDocument(organisation.client, ready)
    const busy = await upload(longCsv(12_000, 'observatory'), 'old.csv', own)
    await until('its processing', async () => (await progress(own)).items.find(isBeingProcessed))
    for (const [id, name] of [
      [ready, 'Pulkovo'],
      [busy, 'Numbers'],
    ]) {
      const change = { name, metadata: { url: `https://example.org/${name}` } }
      expectStatus(await organisation.client('PATCH', `/v1/documents/${id}`, change), 200)
    }
    expect(await waitForDocument(organisation.client, busy)).toMatchObject({ name: 'Numbers', status: 'ready' })
    const answer = await organisation.client('POST', `/v1/endpoints/${own.endpointId}/chat`, {
      messages: [{ role: 'user', content: 'Which observatory was rebuilt at Pulkovo?' }],
    })
    const reference = answer.body.references.find((one: { documentId: string }) => one.documentId === ready)
    expect(reference).toMatchObject({ title: 'Pulkovo', url: 'https://example.org/Pulkovo' })
  })
})

describe('delete', () => {
  it('stops the processing in every state, and a search that starts after the 204 finds nothing', async () => {
    const own = await portico.createSpace(organisation)
    const ready = await upload('A word like quetzalcoatl stands here.', 'ready.txt', own)
    await waitForDocument(organisation.client, ready)
    expect(await ask('quetzalcoatl', own)).toEqual(['ready.txt'])
    await remove(ready)
    expect(await ask('quetzalcoatl', own)).toEqual([])

    const busy = await upload(longCsv(20_000), 'busy.csv', own)
    const queued = await upload('queued behind it: zanzibar', 'queued.txt', own)
    await until('chunks of the busy one', async () => (await progress(own)).items.find(isBeingIndexed))
    await remove(busy)
    await remove(queued)
    expect((await progress(own)).total).toBe(0)
    expect(await ask('zanzibar', own)).toEqual([])

    // The only worker is free again at once, not when the deleted file would have been finished.
    const next = await upload('the next one', 'next.txt', own)
    await waitForDocument(organisation.client, next)
    const failed = await upload('%PDF-1.7 broken', 'broken.pdf', own)
    await waitForDocument(organisation.client, failed)
    await remove(failed)
    expect((await progress(own)).items.map((item: { id: string }) => item.id)).toEqual([next])
    expect(await audit()).toMatchObject({ ok: true, findings: [] })
  })

  it('of many documents during processing never leaves a chunk, a vector or a job', async () => {
    const own = await portico.createSpace(organisation)
    for (let round = 0; round < 8; round++) {
      const id = await upload(longCsv(3000), `${round}.csv`, own)
      // Another moment of its processing each time.
      await wait(round * 60)
      await remove(id)
    }
    expect(await ask('zanzibar', own)).toEqual([])
    await until('the end of all work', async () => (await progress(own)).total === 0)
    expect(await audit()).toMatchObject({ ok: true, findings: [] })
  })
})

describe('the event stream', () => {
  it('begins with a snapshot and reports each change, up to ready and removed', async () => {
    const own = await portico.createSpace(organisation)
    const first = await upload('already there', 'first.txt', own)
    await waitForDocument(organisation.client, first)
    const events = await openEvents(own.id)
    expect(await events.next('snapshot')).toMatchObject({
      counts: { processing: 0, ready: 1, failed: 0 },
      items: [{ id: first, status: 'ready' }],
    })
    const id = await upload(longCsv(12_000), 'new.csv', own)
    const stages = new Set<string>()
    for (;;) {
      const document = await events.next('document')
      if (document.id !== id) continue
      stages.add(document.stage)
      if (document.status === 'ready') break
    }
    expect([...stages]).toContain('indexing')
    await events.next('counts')
    await remove(id)
    expect(await events.next('removed')).toEqual({ id })
    await events.close()
    const gone = await portico.operator('GET', '/api/spaces/01930000-0000-7000-8000-000000000000/documents/events')
    expect(gone.status).toBe(404)
    expect((await organisation.client('GET', `/api/spaces/${own.id}/documents`)).status).toBe(401)
  })

  it('ends when the service stops, and does not delay the stop', async () => {
    // Longer than the test: the stop must not wait for the events.
    const server = { shutdownGraceMs: 3_600_000 }
    const second = await startPortico({ settings: { server, ingestion: { workers: 0 } } })
    const tenant = await second.createOrganisation()
    const { id } = await second.createSpace(tenant)
    const events = await openEvents(id, second)
    await events.next('snapshot')
    await second.stop()
    await events.close()
  })
})

describe('fairness', () => {
  it('many files of one organisation do not delay one file of another', async () => {
    const crowd = await portico.createOrganisation({ name: 'Crowd' })
    const crowdSpace = await portico.createSpace(crowd)
    const crowdIds: string[] = []
    while (crowdIds.length < 40) {
      const some = Array.from({ length: 10 }, (_, n) => upload(longCsv(1000), `${n}.csv`, crowdSpace, crowd))
      crowdIds.push(...(await Promise.all(some)))
    }
    const waiting = async () => (await progress(crowdSpace, 'limit=1')).counts.processing as number
    const before = await waiting()
    const small = await portico.createOrganisation({ name: 'Small tenant' })
    const single = await upload('one file', 'single.txt', await portico.createSpace(small), small)
    await waitForDocument(small.client, single)
    const after = await waiting()
    expect(before).toBeGreaterThan(20)
    expect(before - after).toBeLessThan(10)
    for (const id of crowdIds) expectStatus(await crowd.client('DELETE', `/v1/documents/${id}`), 204)
  })

  it('large files of any organisation leave a worker to a small one', async () => {
    const own = await portico.createSpace(organisation)
    const large: string[] = []
    for (let n = 0; n < 3; n++) large.push(await upload(longCsv(60_000), `large-${n}.csv`, own))
    await until('the processing of a large one', async () => (await progress(own)).items.find(isBeingProcessed))
    const small = await upload('a small file behind three large ones', 'small.txt', own)
    expect(await waitForDocument(organisation.client, small)).toMatchObject({ status: 'ready' })
    expect((await progress(own)).counts).toMatchObject({ processing: 3, ready: 1 })
    for (const id of large) await remove(id)
  })

  it(
    'hostile files end with a code, while the gateway answers and other files become ready',
    { timeout: 120_000 },
    async () => {
      const hostile = await portico.createSpace(organisation)
      const files: [string, string | Uint8Array][] = [
        ['bomb.docx', bomb()],
        ['spaces.txt', ' '.repeat(20_000_000)],
        ['deep.md', '> '.repeat(20_000) + 'deep'],
        ['quotes.csv', '"'.repeat(2_000_000)],
        ['nested.docx', buildDocx('<w:tbl>'.repeat(5000) + '</w:tbl>'.repeat(5000))],
        ['pages.pdf', '%PDF-1.7\n' + '1 0 obj << /Type /Pages /Kids [1 0 R] /Count 999999 >> endobj\n'.repeat(100)],
      ]
      const ids: string[] = []
      for (const [name, content] of files) ids.push(await upload(content, name, hostile))
      const honest = await upload('an honest file among hostile ones', 'honest.txt', hostile)
      const ask = async () => {
        const answer = await organisation.client('POST', '/v1/gateway/chat/completions', {
          model: 'portico/offline',
          messages: [{ role: 'user', content: 'Still there?' }],
        })
        expectStatus(answer, 200)
      }
      await until('the end of the hostile files', async () => {
        await ask()
        return (await progress(hostile)).counts.processing === 0
      })
      for (const id of ids) {
        const { status, error } = (await organisation.client('GET', `/v1/documents/${id}`)).body
        // Some are only unusual and may be readable. Each must end, and never with an internal error.
        if (status === 'failed') expect(error.code).not.toBe('internal_error')
        else expect(status).toBe('ready')
      }
      expect((await organisation.client('GET', `/v1/documents/${honest}`)).body.status).toBe('ready')
    },
  )
})

function isBeingProcessed(item: { stage: string; status: string }) {
  return item.status === 'processing' && item.stage !== 'queued'
}

function isBeingIndexed(item: { stage: string; status: string }) {
  return item.status === 'processing' && item.stage === 'indexing'
}

/** A docx that unpacks to a thousand times its size. */
function bomb(): Buffer {
  const body = '<?xml version="1.0"?><w:document>' + ' '.repeat(150 * 1024 * 1024) + '</w:document>'
  return buildZip([{ name: 'word/document.xml', content: body }])
}

async function openEvents(spaceId: string, from: TestPortico = portico) {
  const abort = new AbortController()
  const response = await fetch(`${from.url}/api/spaces/${spaceId}/documents/events`, {
    headers: { authorization: `Bearer ${from.operatorToken}` },
    signal: abort.signal,
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body!.getReader()
  const parser = new SseParser({ maximumEventBytes: 1_000_000 })
  const arrived: SseEvent[] = []
  return {
    /** The next event of this type; earlier events of other types are skipped. */
    // oxlint-disable-next-line typescript/no-explicit-any
    async next(type: string): Promise<any> {
      for (;;) {
        for (let event = arrived.shift(); event; event = arrived.shift()) {
          if (event.event === type) return JSON.parse(event.data)
        }
        const { value, done } = await reader.read()
        if (done) throw new Error(`the stream ended before ${type}`)
        arrived.push(...parser.push(value))
      }
    },
    async close() {
      abort.abort()
      await reader.cancel().catch(() => {})
    },
  }
}
