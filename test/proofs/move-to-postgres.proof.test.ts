import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildDocx, buildTextPdf, docxParagraph } from '../../src/documents/ingestion/testing/build-documents.ts'
import { startBackupLoad } from '../harness/backup-load.ts'
import { freshDataFolder } from '../harness/database.ts'
import { runOnServer, testServerUrl, urlOfDatabase } from '../harness/database-template.ts'
import {
  createApiClient,
  expectStatus,
  removeFolder,
  type SeparatePortico,
  startSeparatePortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** `portico migrate embedded-to-postgres` with the data of a service, and kill -9. src/platform/database/move has what a step does. */

const repository = path.resolve(import.meta.dirname, '../..')

const files: [string, string | Uint8Array, string][] = [
  ['harbour.txt', 'The harbour master of Kolberg keeps a green parrot.', 'Who keeps a green parrot in the harbour?'],
  ['recipe.md', '# Dumplings\n\nBoil the potato dumplings for eleven minutes.', 'How long to boil potato dumplings?'],
  ['stock.csv', 'article,amount\nturnbuckle,417\nshackle,12', 'amount of turnbuckle?'],
  ['letter.docx', buildDocx(docxParagraph('The lighthouse keeper retires in Ystad.')), 'lighthouse keeper Ystad?'],
  [
    'report.pdf',
    buildTextPdf([{ texts: [{ text: 'Submarine cables were laid near Valentia.', x: 72, y: 700 }] }]),
    'submarine cables Valentia?',
  ],
]

interface Filled {
  apiKey: string
  endpointId: string
  spaceId: string
  /** What the service returned of everything, by the path. */
  answers: Map<string, unknown>
}

/** An organisation with documents, completions, conversations and golden questions, which nobody changes afterwards. */
async function fill(portico: SeparatePortico): Promise<Filled> {
  const { operator } = portico
  const organisation = await portico.createOrganisation()
  const { client } = organisation
  const space = await portico.createSpace(organisation, { settings: { wholeSpaceTokens: 0, keepConversations: true } })
  const documents: string[] = []
  for (const [name, content] of files) {
    const form = uploadForm(content, name, { metadata: '{"kind": "a  test"}' })
    documents.push(expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201).id)
  }
  for (const id of documents) expect((await waitForDocument(client, id)).status).toBe('ready')
  const requests: string[] = []
  for (const [, , question] of files) {
    const messages = [{ role: 'user', content: question }]
    const chat = await client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages }, { 'service-user': 'ann' })
    expectStatus(chat, 200)
    const call = await client('POST', '/v1/gateway/chat/completions', { model: 'portico/offline', messages })
    expectStatus(call, 200)
    requests.push(call.headers.get('x-request-id')!)
    const golden = { messages, expectedDocuments: [{ id: documents[0] }], expectedFacts: ['parrot'] }
    expectStatus(await operator('POST', `/api/spaces/${space.id}/golden-questions`, golden), 201)
  }
  const paths = [
    ...['', '/budget', '/usage', '/members', '/admin-log'].map(
      (part) => `/api/organisations/${organisation.id}${part}`,
    ),
    ...['', '/documents', '/golden-questions', '/conversations', '/golden-questions/settings'].map(
      (part) => `/api/spaces/${space.id}${part}`,
    ),
    ...documents.flatMap((id) => ['', '/chunks', '/content', '/text'].map((part) => `/api/documents/${id}${part}`)),
    ...requests.map((id) => `/api/usage/${id}`),
  ]
  // Conversations and usage reports are written a moment later.
  const conversations = async () => (await operator('GET', `/api/spaces/${space.id}/conversations`)).body.items
  await expect.poll(async () => (await conversations()).length, { timeout: 20_000 }).toBe(files.length)
  for (const { id } of await conversations()) paths.push(`/api/spaces/${space.id}/conversations/${id}`)
  await expect
    .poll(async () => JSON.stringify(await operator('GET', `/api/organisations/${organisation.id}/usage`)), {
      timeout: 20_000,
    })
    .toContain(`"requests":${2 * files.length}`)
  const answers = await answersOf(portico, paths)
  return { apiKey: organisation.apiKey, endpointId: space.endpointId, spaceId: space.id, answers }
}

async function answersOf(portico: SeparatePortico, paths: Iterable<string>): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  // The time of a key's last use is written about a minute later.
  const withoutLastUse = (name: string, value: unknown) => (name === 'lastUsedAt' ? undefined : value)
  for (const one of paths) {
    const body: unknown = expectStatus(await portico.operator('GET', one), 200)
    answers.set(one, JSON.parse(JSON.stringify(body, withoutLastUse)))
  }
  return answers
}

describe.skipIf(testServerUrl() === undefined)('portico migrate embedded-to-postgres', () => {
  const database = `portico_moved_${randomBytes(4).toString('hex')}`
  const databaseUrl = () => urlOfDatabase(testServerUrl()!, database)
  let dataFolder: string
  let work: string

  beforeAll(async () => {
    dataFolder = await freshDataFolder()
    work = mkdtempSync(path.join(tmpdir(), 'portico-move-'))
    await runOnServer(testServerUrl()!, `create database ${database}`)
  })
  afterAll(async () => {
    await runOnServer(testServerUrl()!, `drop database if exists ${database} with (force)`)
    await removeFolder(dataFolder)
    await removeFolder(work)
  })

  /** Runs the program; it is killed at a line of progress. */
  async function move({ killAt, folder = dataFolder }: { killAt?: RegExp; folder?: string } = {}) {
    const child = spawn(process.execPath, [path.join(repository, 'src/app/offline/offline.ts')], {
      cwd: work,
      env: { PATH: process.env['PATH'], PORTICO_DATA_DIR: folder, DATABASE_URL: databaseUrl() },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.end(JSON.stringify({ task: 'move' }))
    const steps: string[] = []
    // The result of the program has many shapes.
    // oxlint-disable-next-line typescript/no-explicit-any
    let last: any
    for await (const line of createInterface({ input: child.stdout })) {
      last = JSON.parse(line)
      if (last.progress === undefined) continue
      steps.push(last.progress)
      if (killAt?.test(last.progress)) child.kill('SIGKILL')
    }
    return { steps, last }
  }

  const embedded = () => ({ dataFolder, databaseUrl: undefined, remove: async () => {} })
  const server = () => ({ dataFolder, databaseUrl: databaseUrl(), remove: async () => {} })

  it('moves everything, continues after kill -9, and the service works on the server', async () => {
    const first = await startSeparatePortico({ place: embedded() })
    const filled = await fill(first)
    const other = await first.createOrganisation({ limits: { concurrentCalls: 64 } })
    const load = startBackupLoad(first, other, await first.createSpace(other))
    await load.reach(100)
    expect((await move()).last.error.message).toContain('in use by another Portico process')
    expect(existsSync(path.join(dataFolder, 'moved-to-postgres.json'))).toBe(false)
    await load.stop()
    // The journal has records that the database does not have.
    await first.kill('SIGKILL')

    for (const killAt of [
      /^corpus: chunks,/,
      /^control: ledger_entries,/,
      /^control: index ledger/,
      /^control: comparing usage/,
    ]) {
      expect((await move({ killAt })).last.progress).toBeDefined()
    }
    await expect(startSeparatePortico({ place: server() })).rejects.toThrow(
      'finish with portico migrate embedded-to-postgres',
    )
    await expect(startSeparatePortico({ place: embedded() })).rejects.toThrow('is moved to a PostgreSQL server')
    const { steps, last } = await move()
    expect(last.error).toBeUndefined()
    // What earlier attempts have copied is not copied again.
    expect(steps.filter((step) => step.endsWith(' rows'))).toEqual([])
    const { control, corpus, files: blobs } = last.result
    const rowsOf = (tables: { table: string; rows: number }[], name: string) =>
      tables.find(({ table }) => table === name)!.rows
    expect(rowsOf(control, 'ledger_entries')).toBeGreaterThanOrEqual(load.done.calls.size + 2 * files.length)
    expect(rowsOf(corpus, 'embeddings_1')).toBe(rowsOf(corpus, 'chunks'))
    expect(blobs).toMatchObject({ found: rowsOf(corpus, 'documents'), missing: [] })
    const mark = JSON.parse(readFileSync(path.join(dataFolder, 'moved-to-postgres.json'), 'utf8'))
    expect(mark.report).toEqual(last.result)
    expect((await move()).last.error.message).toContain('was moved at')

    await using moved = await startSeparatePortico({ place: server() })
    const answers = await answersOf(moved, filled.answers.keys())
    for (const [one, expected] of filled.answers) expect([one, answers.get(one)]).toEqual([one, expected])
    for (const call of load.done.calls) expect((await moved.operator('GET', `/api/usage/${call}`)).status).toBe(200)
    for (const id of load.done.documents) {
      expect((await moved.operator('GET', `/api/documents/${id}/content`)).status).toBe(200)
    }
    const client = createApiClient(moved.url, filled.apiKey)
    const ask = async (content: string) =>
      JSON.stringify(
        expectStatus(
          await client('POST', `/v1/endpoints/${filled.endpointId}/chat`, { messages: [{ role: 'user', content }] }),
          200,
        ),
      )
    for (const [name, , question] of files) expect(await ask(question)).toContain(name)
    const form = uploadForm('The clock maker of Glashütte sells seven sundials.', 'new.txt')
    const added = expectStatus(await client('POST', `/v1/documents?spaceId=${filled.spaceId}`, form), 201)
    expect((await waitForDocument(client, added.id)).status).toBe('ready')
    expect(await ask('Who sells seven sundials?')).toContain('new.txt')
    const findings = async () => expectStatus(await moved.operator('GET', '/api/audit'), 200).findings
    await expect.poll(findings, { timeout: 60_000, interval: 1_000 }).toEqual([])
  }, 400_000)

  it('refuses a server that has data, and leaves the folder as it was', async () => {
    const folder = await freshDataFolder()
    try {
      expect((await move({ folder })).last.error.message).toContain('is not empty')
      expect(existsSync(path.join(folder, 'moved-to-postgres.json'))).toBe(false)
    } finally {
      await removeFolder(folder)
    }
  }, 60_000)
})
