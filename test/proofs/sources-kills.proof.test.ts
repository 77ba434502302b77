import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { freshDatabasePlace } from '../harness/database.ts'
import { createApiClient, expectStatus, startSeparatePortico } from '../harness/portico.ts'

/** Documents from web addresses and from `portico push`, whose process is killed. A server's lease of a job expires after 30 s. */

const settings = { network: { importNetworks: ['127.0.0.1'] } }

async function openStage() {
  const place = await freshDatabasePlace()
  onTestFinished(() => place.remove())
  let portico = await startSeparatePortico({ place, settings })
  onTestFinished(() => portico.stop())
  const { apiKey, ...organisation } = await portico.createOrganisation()
  const space = await portico.createSpace({ apiKey, ...organisation })
  const client: typeof organisation.client = (...words) => createApiClient(portico.url, apiKey)(...words)
  return {
    space,
    client,
    environment: () => ({ PORTICO_URL: portico.url, PORTICO_API_KEY: apiKey, PORTICO_SPACE_ID: space.id }),
    async killAndRestart() {
      await portico.kill('SIGKILL')
      portico = await startSeparatePortico({ place, settings })
    },
    documents: async () =>
      expectStatus(await client('GET', `/v2/documents?spaceId=${space.id}&limit=100`), 200).items as {
        status: string
        metadata: Record<string, string>
      }[],
  }
}

type Stage = Awaited<ReturnType<typeof openStage>>

/** The metadata that identifies documents, when `count` of them are ready. */
async function untilReady({ documents }: Stage, count: number, field: 'url' | 'sourceFile'): Promise<string[]> {
  const ready = async () => (await documents()).filter(({ status }) => status === 'ready').length
  await expect.poll(ready, { interval: 500, timeout: 180_000 }).toBe(count)
  return (await documents()).map(({ metadata }) => metadata[field]!).toSorted()
}

it('a sitemap and pages whose reading is killed become one document for each page', async () => {
  const stage = await openStage()
  const requests: string[] = []
  let holds = true
  const held = Promise.withResolvers<void>()
  const server = createServer(({ url }, response) => {
    requests.push(url!)
    if (url === '/sitemap.xml') {
      const urls = Array.from({ length: 6 }, (_, page) => `<url><loc>${web}/page-${page}</loc></url>`).join('')
      response.writeHead(200, { 'content-type': 'application/xml' }).end(`<urlset>${urls}</urlset>`)
      return
    }
    response.writeHead(200, { 'content-type': 'text/html' })
    const text = `<h1>Page ${url}</h1><p>The text of ${url} is about the harbour.</p>`
    // The third page is still being sent when the process is killed.
    if (holds && requests.length === 4) {
      response.write(text.slice(0, 10))
      held.resolve()
    } else response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const added = { sitemap: `${web}/sitemap.xml` }
  expectStatus(await stage.client('POST', `/v2/documents?spaceId=${stage.space.id}`, added), 202)
  await held.promise
  holds = false
  await stage.killAndRestart()
  expect(await untilReady(stage, 6, 'url')).toEqual(Array.from({ length: 6 }, (_, page) => `${web}/page-${page}`))
}, 300_000)

/** Starts a push; resolves when its first file was pushed. */
async function startPush(folder: string, environment: Record<string, string>) {
  const child = spawn(path.resolve('bin/portico'), ['push', folder, '--parallel', '1'], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let lines = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text) => {
      lines += String(text)
      if (/^new /m.test(lines)) resolve()
    })
    void ended.then(() => reject(new Error(`push ended early: ${lines}`)))
  })
  return {
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

it('a push that is killed, or whose service is killed, is completed by the next one without a second document', async () => {
  const stage = await openStage()
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-push-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const names = Array.from({ length: 60 }, (_, index) => `${String(index).padStart(2, '0')}.md`)
  const write = (from: number, to: number) =>
    names.slice(from, to).forEach((name) => writeFileSync(path.join(folder, name), `# Page ${name}\n\nIts text.\n`))
  write(0, 30)
  const first = await startPush(folder, stage.environment())
  await first.kill()
  const stored = (await stage.documents()).length
  expect(stored).toBeGreaterThan(0)
  expect(stored).toBeLessThan(30)
  write(30, 60)
  const second = await startPush(folder, stage.environment())
  await stage.killAndRestart()
  await second.kill()
  const third = spawn(path.resolve('bin/portico'), ['push', folder, '--json'], {
    env: { PATH: process.env.PATH, ...stage.environment() },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await once(third, 'exit')).toEqual([0, null])
  expect(await untilReady(stage, 60, 'sourceFile')).toEqual(names)
}, 300_000)
