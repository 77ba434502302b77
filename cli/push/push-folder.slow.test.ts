import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runCli } from '../run.ts'
import { startCli, type TestCli } from '../../test/harness/cli.ts'

let cli: TestCli
let environment: Record<string, string>
let folder: string
beforeAll(async () => {
  cli = await startCli()
})
afterAll(() => cli?.portico.stop())
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-push-'))
  const organisation = await cli.createOrganisation()
  const space = await cli.result(['space', 'create', organisation.name, 'Handbook'])
  environment = { ...organisation.environment, PORTICO_SPACE_ID: space.id }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  writeFileSync(path.join(folder, name), text)
}
const run = (...words: string[]) => cli.run(['push', folder, '--json', ...words], environment)
async function push(...words: string[]) {
  const done = await run(...words)
  expect([done.code, done.error.replaceAll(/^(new|changed|moved|metadata|deleted) .*\n/gm, '')]).toEqual([0, ''])
  return done.json
}
const counts = async (...words: string[]) => (await push(...words)).counts
const nothing = { new: 0, changed: 0, moved: 0, metadata: 0, deleted: 0, unchanged: 0 }
async function request(method: string, target: string, body?: unknown) {
  const response = await fetch(cli.portico.url + target, {
    method,
    headers: { 'x-api-key': environment.PORTICO_API_KEY!, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = response.status === 204 ? undefined : await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer as any // oxlint-disable-line typescript/no-explicit-any
}
const documents = async () =>
  (await request('GET', `/v2/documents?spaceId=${environment.PORTICO_SPACE_ID}&limit=100`)).items as {
    id: string
    name: string
    metadata: Record<string, unknown> | null
    contentSha256: string
  }[]
const bySource = async () => new Map((await documents()).map((found) => [found.metadata?.['sourceFile'], found]))

describe('push', () => {
  test('uploads a folder once, keeps equal names apart, and then only what differs', async () => {
    write('a.md', '---\nproduct: tea\n---\n# A\n')
    write('guide/a.md', '# Guide A\n')
    write('guide/b.txt', 'Text b.')
    expect(await counts('--wait')).toEqual({ ...nothing, new: 3 })
    const first = await bySource()
    expect(first.get('a.md')).toMatchObject({ name: 'a.md', metadata: { product: 'tea', sourceFile: 'a.md' } })
    expect(first.get('guide/a.md')).toMatchObject({ name: 'a.md', metadata: { path: 'guide' } })
    expect(await counts()).toEqual({ ...nothing, unchanged: 3 })

    write('guide/a.md', '# Guide A, second edition\n')
    write('guide/b.txt.meta.json', '{"product": "coffee"}')
    expect(await counts('--wait')).toEqual({ ...nothing, changed: 1, metadata: 1, unchanged: 1 })
    const second = await bySource()
    expect(second.size).toBe(3)
    for (const [source, document] of first) expect(second.get(source)?.id).toBe(document.id)
    expect(second.get('guide/b.txt')?.metadata).toMatchObject({ product: 'coffee' })
    expect(await counts()).toEqual({ ...nothing, unchanged: 3 })
  })

  test('moves a document whose file was renamed, without an upload', async () => {
    write('old/a.md', '# A\n')
    await push()
    const [before] = await documents()
    mkdirSync(path.join(folder, 'new'))
    renameSync(path.join(folder, 'old/a.md'), path.join(folder, 'new/b.md'))
    expect(await counts()).toEqual({ ...nothing, moved: 1 })
    expect(await documents()).toMatchObject([
      { id: before!.id, name: 'b.md', metadata: { path: 'new', sourceFile: 'new/b.md' } },
    ])
  })

  test('deletes only with --delete, only what push uploaded, and not for an excluded file', async () => {
    write('a.md', '# A\n')
    write('b.md', '# B\n')
    write('c.md', '# C\n')
    await push()
    const other = path.join(folder, '..', `${path.basename(folder)}.txt`)
    writeFileSync(other, 'Uploaded by hand.')
    await cli.result(['document', 'upload', other], environment)
    rmSync(other)
    for (const name of ['a.md', 'b.md']) rmSync(path.join(folder, name))
    expect(await push()).toMatchObject({ counts: { unchanged: 1, deleted: 0 }, kept: ['a.md', 'b.md'] })
    expect(await counts('--delete', '--exclude', 'b.*')).toEqual({ ...nothing, deleted: 1, unchanged: 1 })
    expect([...(await bySource()).keys()].sort()).toEqual(['b.md', 'c.md', undefined])
  })

  test('deletes the last files only with --yes', async () => {
    write('a.md', '# A\n')
    await push()
    rmSync(path.join(folder, 'a.md'))
    expect((await run('--delete')).code).toBe(1)
    expect(await documents()).toHaveLength(1)
    expect(await counts('--delete', '--yes')).toEqual({ ...nothing, deleted: 1 })
  })

  test('compares two folders of one Space separately', async () => {
    write('a.md', '# A\n')
    expect(await counts('--into', 'one')).toEqual({ ...nothing, new: 1 })
    expect(await counts('--into', '/two/deep/', '--delete')).toEqual({ ...nothing, new: 1 })
    expect([...(await bySource()).keys()].sort()).toEqual(['one/a.md', 'two/deep/a.md'])
  })

  test('reports a file that cannot be pushed, pushes the others, deletes nothing and exits with 1', async () => {
    write('gone.md', '# Gone\n')
    await push()
    rmSync(path.join(folder, 'gone.md'))
    write('bad.md', '---\ntitle: "Tea\n---\n')
    write('good.md', '# Good\n')
    write('empty.md', '')
    const done = await run('--delete')
    expect(done.code).toBe(1)
    expect(done.json).toMatchObject({
      counts: { new: 1, deleted: 0 },
      failed: [{ path: 'bad.md' }],
      skipped: [{ path: 'empty.md', reason: 'empty' }],
      keptBecause: 'some files failed',
    })
  })

  test('leaves a document of the same name that it did not upload, unless --take-over takes it over', async () => {
    write('a.md', '# A\n')
    await cli.result(['document', 'upload', path.join(folder, 'a.md')], environment)
    const [before] = await documents()
    expect((await run()).json.failed).toMatchObject([{ path: 'a.md' }])
    expect(await counts('--take-over')).toEqual({ ...nothing, metadata: 1 })
    expect(await documents()).toMatchObject([{ id: before!.id, metadata: { sourceFile: 'a.md' } }])
  })

  test('changes nothing with --dry-run', async () => {
    write('a.md', '# A\n')
    expect(await push('--dry-run')).toMatchObject({ changes: [{ path: 'a.md', change: 'new' }] })
    expect(await documents()).toEqual([])
    expect((await cli.run(['push', folder, '--dry-run'], environment)).out).toContain('new a.md')
  })

  test('stores a file once when two run at the same time', async () => {
    for (let index = 0; index < 20; index++) write(`${index}.md`, `# Page ${index}\n`)
    const both = await Promise.all([push(), push()])
    expect(both.map((report) => report.failed)).toEqual([[], []])
    expect(await documents()).toHaveLength(20)
    for (let index = 0; index < 20; index++) write(`${index}.md`, `# Page ${index}, changed\n`)
    await Promise.all([push(), push()])
    expect(await documents()).toHaveLength(20)
    expect(await counts()).toEqual({ ...nothing, unchanged: 20 })
  })

  test('uploads a file again whose document was deleted within the day of its key', async () => {
    write('a.md', '# A\n')
    await push('--wait')
    const [{ id } = { id: '' }] = await documents()
    await request('DELETE', `/v2/documents/${id}`)
    expect(await counts('--wait')).toEqual({ ...nothing, new: 1 })
    expect(await documents()).toHaveLength(1)
    for (const text of ['# B\n', '# A\n', '# B\n']) {
      write('a.md', text)
      expect(await counts('--wait')).toEqual({ ...nothing, changed: 1 })
      expect(await documents()).toMatchObject([{ contentSha256: createHash('sha256').update(text).digest('hex') }])
    }
  })

  test('with --watch pushes what is written until it is interrupted', async () => {
    write('a.md', '# A\n')
    const interrupt = new AbortController()
    const pushed = (name: string) => waitFor(() => lines.includes(`new ${name}`))
    let lines = ''
    let changed = () => {}
    const waitFor = (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        changed = () => holds() && resolve()
        changed()
      })
    const ended = runCli(['push', folder, '--watch'], {
      environment: { PORTICO_URL: cli.portico.url, ...environment },
      writeOut: () => {},
      writeError: (text) => {
        lines += text
        changed()
      },
      isTerminal: false,
      readLine: () => Promise.resolve(''),
      readInput: () => Promise.resolve(''),
      signal: interrupt.signal,
    })
    await pushed('a.md')
    write('deep/b.md', '# B\n')
    await pushed('deep/b.md')
    interrupt.abort()
    expect(await ended).toBe(0)
  })
})

describe('the requests of push', () => {
  type Answer = (request: IncomingMessage, response: ServerResponse) => void
  /** Pushes the folder to a server of the test; returns the methods of its requests. */
  async function pushTo(answer: Answer, ...words: string[]) {
    const requests: string[] = []
    const server = createServer((incoming, response) => {
      requests.push(incoming.method!)
      incoming.resume().on('end', () => answer(incoming, response))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const done = await cli.run(['push', folder, '--json', '--url', url, ...words], environment)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    return { requests, done }
  }
  const reply = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

  test('for 2,000 unchanged files are the pages of the list', async () => {
    const text = '# A\n'
    const contentSha256 = createHash('sha256').update(text).digest('hex')
    for (let index = 0; index < 2_000; index++) write(`${index % 10}/${index}.md`, text)
    const items = Array.from({ length: 2_000 }, (_, index) => {
      const folder = String(index % 10)
      return {
        id: String(index),
        name: `${index}.md`,
        status: 'ready',
        metadata: { sourceFile: `${folder}/${index}.md`, path: folder },
        contentSha256,
      }
    })
    const { requests, done } = await pushTo((incoming, response) => {
      const offset = Number(new URL(incoming.url!, 'http://x').searchParams.get('offset'))
      reply(response, 200, { total: items.length, items: items.slice(offset, offset + 100) })
    })
    expect(done.json.counts).toEqual({ ...nothing, unchanged: 2_000 })
    expect(requests.length).toBeLessThanOrEqual(21)
    expect(new Set(requests)).toEqual(new Set(['GET']))
  })

  test('wait as long as Retry-After requires', async () => {
    write('a.md', '# A\n')
    const times: number[] = []
    const { done } = await pushTo((incoming, response) => {
      if (incoming.method === 'GET') return reply(response, 200, { total: 0, items: [] })
      times.push(performance.now())
      if (times.length === 1) return reply(response, 429, { error: { message: 'slow' } }, { 'retry-after': '1' })
      return reply(response, 201, { id: 'x', status: 'processing' })
    })
    expect(done.code).toBe(0)
    // The wait itself is tested; 990, because timers may fire a little early.
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990)
  })

  test('end at the first one that every further file would get as well', async () => {
    for (const name of ['a.md', 'b.md', 'c.md']) write(name, '# A\n')
    const { requests, done } = await pushTo((incoming, response) => {
      if (incoming.method === 'GET') return reply(response, 200, { total: 0, items: [] })
      return reply(response, 401, { error: { message: 'No such key.' } })
    }, '--parallel', '1') // prettier-ignore
    expect(done.code).toBe(1)
    expect(requests).toEqual(['GET', 'POST'])
  })

  test('send a file again that is written while it is read', async () => {
    write('a.md', '# First\n')
    let posts = 0
    const { done, requests } = await pushTo((incoming, response) => {
      if (incoming.method === 'GET') return reply(response, 200, { total: 0, items: [] })
      if (++posts === 1) write('a.md', '# Second and longer\n')
      return reply(response, 201, { id: 'x', status: 'processing' })
    })
    expect(done.code).toBe(0)
    expect(requests).toEqual(['GET', 'POST', 'POST'])
  })
})
