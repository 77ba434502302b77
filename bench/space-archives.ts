/**
 * MB per second of the export and the import of a Space, over HTTP, with a service in another process:
 *
 *   npm run bench:space-archives [-- --chunks 10000] [--database-url URL]
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startServiceProcess } from './service-process.ts'

const { values } = parseArgs({
  options: { chunks: { type: 'string', default: '10000' }, 'database-url': { type: 'string' } },
})
const documents = 20
/** A line of the texts makes about a twentieth of a chunk. */
const linesPerChunk = 20

const dataFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-archives-'))
const databaseUrl = values['database-url']
const service = await startServiceProcess({
  dataFolder,
  environment: { PORTICO_EMBEDDER: 'hashing', ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) },
})
try {
  const organisation = (await send('POST', '/api/organisations', { name: 'Bench', plan: 'enterprise' })) as {
    id: string
  }
  const given = { organisationId: organisation.id, name: 'Bench', model: 'portico/offline' }
  const space = (await send('POST', '/api/spaces', given)) as { id: string }
  for (let number = 0; number < documents; number++) await upload(space.id, number)
  const chunks = await waitUntilReady(space.id)

  const exportStart = performance.now()
  const exported = Buffer.from(await (await call('GET', `/api/spaces/${space.id}/export`)).arrayBuffer())
  print('export', chunks, exported.length, performance.now() - exportStart)
  const importStart = performance.now()
  const target = `/api/organisations/${organisation.id}/spaces/import`
  const response = await call('POST', target, exported, { 'content-type': 'application/x-tar' })
  const imported = (await response.json()) as { chunks: number }
  print('import', imported.chunks, exported.length, performance.now() - importStart)
} finally {
  await service.stop()
  fs.rmSync(dataFolder, { recursive: true, force: true })
}

async function call(
  method: string,
  target: string,
  body?: string | FormData | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(service.url + target, {
    method,
    headers: { authorization: `Bearer ${service.operatorToken}`, ...headers },
    body: (body ?? null) as never,
  })
  if (!response.ok) throw new Error(`${method} ${target} answered ${response.status}: ${await response.text()}`)
  return response
}

async function send(method: string, target: string, body: unknown): Promise<unknown> {
  return (await call(method, target, JSON.stringify(body), { 'content-type': 'application/json' })).json()
}

async function upload(spaceId: string, number: number): Promise<void> {
  const lines = Math.ceil((Number(values.chunks) / documents) * linesPerChunk)
  const text = Array.from(
    { length: lines },
    (_, line) =>
      `Document ${number}: in room ${line} there are ${(line * 7) % 113} chairs, and a lamp near window ${line}.`,
  ).join(' ')
  const form = new FormData()
  form.append('file', new Blob([text]), `document-${number}.txt`)
  await call('POST', `/api/spaces/${spaceId}/documents`, form)
}

/** Resolves to the number of chunks. */
async function waitUntilReady(spaceId: string): Promise<number> {
  for (;;) {
    const page = (await (await call('GET', `/api/spaces/${spaceId}/documents?limit=100`)).json()) as {
      items: { status: string; chunkCount: number | null }[]
    }
    if (page.items.every(({ status }) => status === 'ready'))
      return page.items.reduce((sum, { chunkCount }) => sum + (chunkCount ?? 0), 0)
    await wait(500)
  }
}

function print(what: string, chunks: number, bytes: number, ms: number): void {
  const megabytes = bytes / 1_000_000
  const perSecond = (count: number) => (count / ms) * 1_000
  console.log(
    `${what}: ${chunks} chunks, ${megabytes.toFixed(1)} MB, ${(ms / 1_000).toFixed(1)} s: ${perSecond(megabytes).toFixed(1)} MB/s, ${Math.round(perSecond(chunks))} chunks/s`,
  )
}
