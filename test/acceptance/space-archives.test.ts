import { mkdtempSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildPdfWithFiles } from '../../src/documents/ingestion/testing/attached-pdf.ts'
import { operatorVariables, runCommand } from '../harness/cli.ts'
import { freshDataFolder, testServerUrl } from '../harness/database.ts'
import { createPerson } from '../harness/people.ts'
import {
  expectStatus,
  removeFolder,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { startScriptedStage } from '../harness/scripted-space.ts'
import {
  archiveFiles,
  archiveQuestions,
  exportArchive,
  fillSpace,
  importArchive,
  rewriteArchive,
} from '../harness/space-archives.ts'

/** Export and import of whole Spaces. On a server run, the source is a server and the other installation an embedded one. */

let folder: string
let portico: TestPortico
let other: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let archive: Buffer
let documentIds: Map<string, string>

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-space-archives-'))
  const settings = { ollama: { detect: false }, embeddings: { kind: 'hashing' } }
  portico = await startPortico({ settings })
  const dataFolder = await freshDataFolder()
  other = await startPortico({ settings, place: { dataFolder, databaseUrl: undefined, remove: async () => {} } })
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, {
    name: 'Museum',
    instructions: 'Be kind.',
    settings: { maximumPassages: 7 },
  })
  documentIds = await fillSpace(organisation, space)
  const renamed = { name: 'Handbook of the garden', metadata: { url: 'https://example.org/garden', n: 1 } }
  expectStatus(await organisation.client('PATCH', `/v1/documents/${documentIds.get('garden.txt')}`, renamed), 200)
  const question = {
    messages: [{ role: 'user', content: 'What does a ticket cost?' }],
    expectedDocuments: [{ id: documentIds.get('museum.md') }],
    expectedFacts: ['twelve euros'],
  }
  expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/golden-questions`, question), 201)
  await vi.waitUntil(async () => (await portico.service.corpus.query('select 1 from job')).length === 0, {
    timeout: 30_000,
  })
  archive = await exportArchive(portico, space.id)
})
afterAll(async () => {
  await other?.stop()
  await portico?.stop()
  await removeFolder(folder)
})

/** Passages of each question, in their order. */
async function search(service: TestPortico['service'], organisationId: string, spaceId: string) {
  const found = []
  for (const query of archiveQuestions) {
    const scope = { organisationId: organisationId as never, spaceId: spaceId as never, filter: null }
    const passages = await service.retrieval.search({ ...scope, query, limit: 8, signal: new AbortController().signal })
    found.push(passages.map(({ chunkId: _id, documentId: _document, score, ...rest }) => ({ ...rest, score })))
  }
  return found
}

function withoutScores(passages: Awaited<ReturnType<typeof search>>[number]) {
  return passages.map(({ score: _score, ...passage }) => passage)
}

async function loadVectors({ corpus }: TestPortico['service'], spaceId: string): Promise<string[]> {
  const [{ id } = { id: 0 }] = await corpus.query<{ id: number }>(
    `select id from embedding_generations where state = 'active'`,
  )
  const rows = await corpus.query<{ vector: string }>(
    `select encode(vector_send(e.embedding::vector), 'hex') as vector from embeddings_${id} e
       join chunks c on c.space_id = e.space_id and c.id = e.chunk_id
     where e.space_id = $1 order by c.document_name, c.chunk_index`,
    [spaceId],
  )
  return rows.map(({ vector }) => vector)
}

const checked = ({ corpus }: TestPortico['service']) =>
  vi.waitUntil(
    async () => (await corpus.query(`select 1 from job where key like 'check-imported-document:%'`)).length === 0,
    {
      timeout: 60_000,
    },
  )

it('reads each imported file as the version of the interface that received it', async () => {
  const chosen = await portico.createSpace(organisation)
  const file = buildPdfWithFiles('The text.', [{ name: 'terms.txt', content: 'The attached terms.' }])
  for (const version of [1, 2]) {
    const url = `/v${version}/documents?spaceId=${chosen.id}`
    const { id } = expectStatus(await organisation.client('POST', url, uploadForm(file, `version-${version}.pdf`)), 201)
    await waitForDocument(organisation.client, id)
  }
  const receiving = await portico.createOrganisation()
  const archived = await exportArchive(portico, chosen.id)
  const { spaceId } = expectStatus(await importArchive(portico, receiving.id, archived), 201)
  // The check of imported documents reads their files again, and processes those whose chunks differ.
  await checked(portico.service)
  const { items } = expectStatus(await receiving.client('GET', `/v2/documents?spaceId=${spaceId}`), 200)
  const texts = new Map<string, string>()
  for (const { id, name } of items) {
    await waitForDocument(receiving.client, id)
    const chunks = expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks`), 200).items
    texts.set(name, chunks.map(({ text }: { text: string }) => text).join('\n'))
  }
  expect(texts.get('version-1.pdf')).not.toContain('attached terms')
  expect(texts.get('version-2.pdf')).toContain('attached terms')
})

describe('a Space of five file types', () => {
  it.each([
    ['another organisation', () => portico],
    ['another installation', () => other],
  ])('is found in %s by the same passages, scores and vectors', async (_where, target) => {
    const { service, operator } = target()
    const receiving = await target().createOrganisation()
    const imported = expectStatus(await importArchive(target(), receiving.id, archive), 201)
    expect(imported).toMatchObject({
      name: 'Museum',
      documents: archiveFiles.length,
      processing: 0,
      goldenQuestions: 1,
      embedding: 'kept',
    })
    const made = expectStatus(await operator('GET', `/api/spaces/${imported.spaceId}`), 200)
    expect(made).toMatchObject({
      organisationId: receiving.id,
      instructions: 'Be kind.',
      settings: { maximumPassages: 7 },
      published: false,
      endpointId: null,
    })
    expect(imported.spaceId).not.toBe(space.id)
    await checked(service)
    const [after, before] = [
      await search(service, receiving.id, imported.spaceId),
      await search(portico.service, organisation.id, space.id),
    ]
    expect(after.map(withoutScores)).toEqual(before.map(withoutScores))
    // The engines add their scores up with other roundings.
    const digits = service.corpus.engine === portico.service.corpus.engine ? 12 : 5
    for (const [at, { score }] of after.flat().entries()) expect(score).toBeCloseTo(before.flat()[at]!.score, digits)
    const vectors = await loadVectors(service, imported.spaceId)
    expect(vectors).toHaveLength(imported.chunks)
    expect(vectors).toEqual(await loadVectors(portico.service, space.id))

    const { items } = expectStatus(
      await receiving.client('GET', `/v1/documents?spaceId=${imported.spaceId}&limit=100`),
      200,
    )
    const own = expectStatus(await organisation.client('GET', `/v1/documents?spaceId=${space.id}&limit=100`), 200).items
    const facts = (list: Record<string, unknown>[]) =>
      list
        .map(({ name, status, metadata, warnings, sizeBytes, mimeType }) => ({
          name,
          status,
          metadata,
          warnings,
          sizeBytes,
          mimeType,
        }))
        .sort((left, right) => String(left.name).localeCompare(String(right.name)))
    expect(facts(items)).toEqual(facts(own))
    expect(
      items.some((item: { warnings?: { code: string }[] }) =>
        item.warnings?.some(({ code }) => code === 'instruction_like_text'),
      ),
    ).toBe(true)
    const known = new Set(own.map(({ id }: { id: string }) => id))
    expect(items.filter(({ id }: { id: string }) => known.has(id))).toEqual([])

    const questions = expectStatus(await operator('GET', `/api/spaces/${imported.spaceId}/golden-questions`), 200).items
    const museum = items.find(({ name }: { name: string }) => name === 'museum.md')
    expect(questions).toMatchObject([
      { expectedDocuments: [{ id: museum.id, name: 'museum.md', exists: true }], expectedFacts: ['twelve euros'] },
    ])
    const entries = expectStatus(
      await operator('GET', `/api/admin-log?organisationId=${receiving.id}&action=space.imported`),
      200,
    )
    expect(entries.items).toMatchObject([{ subjectId: imported.spaceId, after: { name: 'Museum', documents: 6 } }])
  })

  it('is imported twice at the same time without a difference', async () => {
    const receiving = await portico.createOrganisation()
    const answers = await Promise.all(
      ['One', 'Two'].map((name) => importArchive(portico, receiving.id, archive, `?name=${name}`)),
    )
    const spaces = answers.map((answer) => expectStatus(answer, 201))
    expect(spaces.map(({ name }) => name)).toEqual(['One', 'Two'])
    const [first, second] = await Promise.all(
      spaces.map(({ spaceId }) => search(portico.service, receiving.id, spaceId)),
    )
    expect(first).toEqual(second)
  })

  it('is exported and imported by the command line', async () => {
    const file = path.join(folder, 'museum.tar')
    const receiving = await portico.createOrganisation({ name: 'By command' })
    const exported = await run('space', 'export', '--space', space.id, '--to', file, '--json')
    expect(JSON.parse(exported)).toMatchObject({ documents: 6, goldenQuestions: 1 })
    expect((await readFile(file)).includes(organisation.apiKey)).toBe(false)
    const imported = JSON.parse(
      await run('space', 'import', '--from', file, '--organisation', receiving.id, '--name', 'Copy', '--json'),
    )
    expect(imported).toMatchObject({ name: 'Copy', documents: 6, embedding: 'kept' })
    const cut = path.join(folder, 'cut.tar')
    await writeFile(cut, archive.subarray(0, 20_000))
    await expect(run('space', 'import', '--from', cut, '--organisation', receiving.id)).rejects.toThrow(/cut off/)
  }, 180_000)
})

async function run(...words: string[]): Promise<string> {
  const environment = { ...process.env, ...operatorVariables(portico) }
  const { code, out, error } = await runCommand(words, { environment })
  if (code !== 0) throw new Error(error)
  return out
}

/** Rows and files of organisations, outside of the ledger. */
async function countStored({ service }: TestPortico, organisationId: string) {
  const [documents] = await service.corpus.query<{ count: bigint }>(
    'select count(*) from documents where organisation_id = $1',
    [organisationId],
  )
  const [spaces] = await service.control.query<{ count: bigint }>(
    'select count(*) from spaces where organisation_id = $1',
    [organisationId],
  )
  let blobs = 0
  for await (const { key } of service.blobs.list()) if (key.startsWith(organisationId)) blobs++
  return { documents: Number(documents!.count), spaces: Number(spaces!.count), blobs }
}

describe('an archive that is not whole', () => {
  it('leaves nothing, and names what is wrong', async () => {
    const receiving = await portico.createOrganisation()
    const flipped = Buffer.from(archive)
    flipped[archive.indexOf('forty roses')]! ^= 1
    const attacks: [Uint8Array, RegExp][] = [
      [Buffer.alloc(0), /cut off|no manifest/],
      [Buffer.from('not a tar archive'), /cut off or is not a tar archive/],
      [archive.subarray(0, archive.length - 3_000), /cut off|no manifest|has no end|no SHA-256/],
      [archive.subarray(0, 30_000), /cut off/],
      [flipped, /SHA-256/],
    ]
    for (const [bytes, message] of attacks) {
      const { status, body } = await importArchive(portico, receiving.id, bytes)
      expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'archive' })
      expect(body.error.message).toMatch(message)
    }
    await vi.waitUntil(
      async () => {
        const { documents, spaces, blobs } = await countStored(portico, receiving.id)
        return documents + spaces + blobs === 0
      },
      { timeout: 30_000 },
    )
  })

  it('leaves nothing when its client disconnects, and does not prevent the next import', async () => {
    const receiving = await portico.createOrganisation()
    const abort = new AbortController()
    const half = archive.subarray(0, archive.length / 2)
    const unfinished = new ReadableStream({ start: (controller) => controller.enqueue(half) })
    const importing = importArchive(portico, receiving.id, unfinished, '', abort.signal)
    await vi.waitUntil(async () => (await countStored(portico, receiving.id)).documents > 0, { timeout: 30_000 })
    abort.abort()
    await expect(importing).rejects.toThrow(/abort/)
    await vi.waitUntil(
      async () => {
        const { documents, spaces, blobs } = await countStored(portico, receiving.id)
        return documents + spaces + blobs === 0
      },
      { timeout: 30_000 },
    )
    expectStatus(await importArchive(portico, receiving.id, archive), 201)
  })

  it('is stopped at the limit in bytes', async () => {
    await using small = await startPortico({ settings: { documents: { maximumImportBytes: 10_000 } } })
    const receiving = await small.createOrganisation()
    expect(await importArchive(small, receiving.id, archive)).toMatchObject({
      status: 413,
      body: { error: { message: 'The archive must have at most 10000 bytes.' } },
    })
  })
})

describe('who may', () => {
  it('export and import: administrators of the organisation, and no one else', async () => {
    const stranger = await portico.createOrganisation()
    const people = {
      administrator: await createPerson(portico, {
        email: 'archive-admin@example.org',
        role: 'administrator',
        organisationId: organisation.id,
      }),
      member: await createPerson(portico, { email: 'archive-member@example.org', organisationId: organisation.id }),
      foreign: await createPerson(portico, {
        email: 'archive-foreign@example.org',
        role: 'administrator',
        organisationId: stranger.id,
      }),
    }
    const exporting = `/api/spaces/${space.id}/export`
    const importing = `/api/organisations/${organisation.id}/spaces/import`
    const tar = { 'content-type': 'application/x-tar' }
    const statuses = async (call: TestPortico['operator']) => [
      (await call('GET', exporting)).status,
      (await call('POST', importing, undefined, tar)).status,
    ]
    // 400: the body is empty.
    expect(await statuses(people.administrator.call)).toEqual([200, 400])
    expect(await statuses(people.member.call)).toEqual([403, 403])
    expect(await statuses(people.foreign.call)).toEqual([404, 404])
    expect(await statuses(stranger.client)).toEqual([401, 401])
    expect(await statuses(organisation.client)).toEqual([401, 401])
  })
})

describe('with a model that embeds', () => {
  it('calls no embedder when it is the same, and embeds again in the background when it is another one', async () => {
    const stage = await startScriptedStage()
    try {
      const [from, to] = [await stage.portico.createOrganisation(), await stage.portico.createOrganisation()]
      const source = await stage.portico.createSpace(from, { model: 'm' })
      await stage.upload(from, source, 'The museum opens at ten on Sundays.', 'museum.txt')
      const own = await exportArchive(stage.portico, source.id)
      const calls = stage.upstream.requests.length
      const kept = expectStatus(await importArchive(stage.portico, to.id, own), 201)
      expect(kept).toMatchObject({ documents: 1, processing: 0, embedding: 'kept' })
      await checked(stage.portico.service)
      expect(stage.upstream.requests.length).toBe(calls)

      const refused = await importArchive(stage.portico, to.id, archive, '?model=missing')
      expect(refused).toMatchObject({ status: 400, body: { error: { param: 'model' } } })
      const again = expectStatus(await importArchive(stage.portico, to.id, archive, '?model=m'), 201)
      expect(again).toMatchObject({ documents: 6, processing: 6, chunks: 0, embedding: 'again' })
      await vi.waitUntil(
        async () => {
          const { items } = (await to.client('GET', `/v1/documents?spaceId=${again.spaceId}`)).body
          return items.every(({ status }: { status: string }) => status === 'ready')
        },
        { timeout: 60_000 },
      )
      expect(stage.upstream.requests.length).toBeGreaterThan(calls)
    } finally {
      await stage.stop()
    }
  })
})

it('takes no text that the files of the archive do not have', async () => {
  const receiving = await portico.createOrganisation()
  const forged = await rewriteArchive(archive, (name, bytes) =>
    name.includes('chunks-') ? Buffer.from(bytes.toString().replaceAll('twelve euros', 'ninety euros')) : bytes,
  )
  expect(forged.includes('ninety euros')).toBe(true)
  const imported = expectStatus(await importArchive(portico, receiving.id, forged), 201)
  await checked(portico.service)
  await vi.waitUntil(
    async () => {
      const [passages] = await search(portico.service, receiving.id, imported.spaceId)
      return passages![0]?.text.includes('twelve euros') && !JSON.stringify(passages).includes('ninety')
    },
    { timeout: 30_000 },
  )
})

it.skipIf(testServerUrl() === undefined)('moves between the engines', () => {
  expect([portico.service.corpus.engine, other.service.corpus.engine]).toEqual(['postgres', 'embedded'])
})
