import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCli, type TestCli } from '../test/harness/cli.ts'

let portico: TestCli['portico']
let run: TestCli['run']
let result: TestCli['result']
let createOrganisation: TestCli['createOrganisation']
let folder: string
beforeAll(async () => {
  ;({ portico, run, result, createOrganisation } = await startCli())
  folder = mkdtempSync(path.join(tmpdir(), 'portico-cli-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await portico?.stop()
})

describe('organisations and keys', () => {
  test('creates an organisation whose key works at the gateway', async () => {
    const { id, environment } = await createOrganisation()
    const response = await fetch(`${portico.url}/v1/gateway/models`, {
      headers: { 'x-api-key': environment.PORTICO_API_KEY },
    })
    expect(response.status).toBe(200)
    expect(await result(['org', 'show', id])).toMatchObject({ monthlyBudgetUsd: '50', gatewayOptIn: true })
  })

  test('finds an organisation by its exact name; two with the same name need the id', async () => {
    const { name, id } = await createOrganisation()
    expect((await result(['org', 'show', name])).id).toBe(id)
    await result(['org', 'create', name, '--no-key'])
    const ambiguous = await run(['org', 'show', name])
    expect([ambiguous.code, ambiguous.error]).toEqual([2, expect.stringContaining('Give the id')])
    const unknown = await run(['org', 'show', name.slice(0, -1)])
    expect([unknown.code, unknown.error]).toEqual([1, expect.stringContaining('portico org list')])
  })

  test('update changes every field', async () => {
    const { name, id } = await createOrganisation()
    const words = [
      '--name',
      `${name} B`,
      '--plan',
      'team',
      '--budget',
      '1.5',
      '--markup',
      '12.5',
      '--time-zone',
      'Asia/Tokyo',
    ]
    const more = ['--anchor-day', '5', '--subscription', 'cancelled', '--ends-at', '2031-01-01T00:00:00Z']
    const models = ['--disable-model', 'portico/offline']
    expect(await result(['org', 'update', name, ...words, ...more, ...models])).toMatchObject({
      id,
      name: `${name} B`,
      plan: 'team',
      monthlyBudgetUsd: '1.5',
      markupPercent: '12.5',
      timeZone: 'Asia/Tokyo',
      periodAnchorDay: 5,
      subscription: { status: 'cancelled', endsAt: '2031-01-01T00:00:00.000Z', active: true },
      disabledModels: ['portico/offline'],
    })
    const back = ['--enable-model', 'portico/offline', '--subscription', 'active', '--ends-at', 'none']
    expect(await result(['org', 'update', id, ...back])).toMatchObject({
      disabledModels: [],
      subscription: { status: 'active', endsAt: null },
    })
  })

  test('enable, disable, opt-in and opt-out change their field', async () => {
    const { name } = await createOrganisation()
    expect((await result(['org', 'disable', name])).gatewayEnabled).toBe(false)
    expect((await result(['org', 'enable', name])).gatewayEnabled).toBe(true)
    expect((await result(['org', 'opt-out', name])).gatewayOptIn).toBe(false)
    expect((await result(['org', 'opt-in', name])).gatewayOptIn).toBe(true)
  })

  test('replaces a current key only with --yes or after a prompt', async () => {
    const name = `Rotation ${crypto.randomUUID()}`
    const { apiKey } = await result(['org', 'create', name])
    const current = async () => (await result(['org', 'show', name])).apiKey.lastFour
    const before = await current()
    expect(apiKey.key).toContain(before)

    const unconfirmed = await run(['key', 'rotate', name])
    expect(unconfirmed).toMatchObject({ code: 2, out: '' })
    expect(unconfirmed.error).toContain('--yes')
    expect((await run(['key', 'rotate', name], {}, 'n', true)).code).toBe(2)
    expect(await current()).toBe(before)

    expect((await run(['key', 'rotate', name], {}, 'y', true)).code).toBe(0)
    const confirmed = await current()
    expect(confirmed).not.toBe(before)
    expect((await run(['key', 'rotate', name, '--yes'])).code).toBe(0)
    expect(await current()).not.toBe(confirmed)
  })

  test('prints a rotated key once, and never in another command', async () => {
    const { name } = await createOrganisation()
    const rotated = await run(['key', 'rotate', name, '--yes'])
    const key = /export PORTICO_API_KEY=(ptc_\w{40})/.exec(rotated.out)?.[1]
    expect(key).toBeDefined()
    const later = [
      await run(['org', 'show', name]),
      await run(['org', 'list', '--json']),
      await run(['log', '--org', name, '--json']),
    ]
    for (const { code, out, error } of later) {
      expect(code).toBe(0)
      expect(out + error).not.toContain(key)
      expect(out + error).not.toContain(portico.operatorToken)
    }
  })

  test('removes nothing without --yes', async () => {
    const { name, id } = await createOrganisation()
    const refused = await run(['org', 'remove', name])
    expect([refused.code, refused.error]).toEqual([2, expect.stringContaining('--yes')])
    expect(await result(['org', 'remove', name, '--yes'])).toEqual({ removed: id })
    expect((await run(['org', 'show', id])).code).toBe(1)
  })
})

describe('Spaces, documents and chat', () => {
  test('from an empty organisation to a cited answer about a file', async () => {
    const { name, environment } = await createOrganisation()
    const space = await result([
      'space',
      'create',
      name,
      'Handbook',
      '--instructions',
      'Be brief.',
      '--passages',
      '4',
      '--publish',
    ])
    expect(space).toMatchObject({ published: true, instructions: 'Be brief.', settings: { maximumPassages: 4 } })
    const docs = path.join(folder, 'docs')
    mkdirSync(path.join(docs, 'deep'), { recursive: true })
    writeFileSync(path.join(docs, 'zoo.md'), '# Zoo\n\nThe zoo of Kasterberg opens at nine and has two red pandas.\n')
    writeFileSync(path.join(docs, 'deep', 'pool.txt'), 'The pool of Kasterberg is closed in winter.\n')
    writeFileSync(path.join(docs, 'picture.gif'), 'no document')
    const uploaded = await result(['document', 'upload', docs, '--space', space.id, '--wait'], environment)
    expect(uploaded).toMatchObject({ uploaded: 2, failed: 0 })
    expect(uploaded.files.map(({ status }: { status: string }) => status)).toEqual(['ready', 'ready'])
    const listed = await run(['document', 'list', space.id], environment)
    expect(listed.out).toMatch(/ID +NAME +STATUS[\s\S]*zoo\.md +ready/)
    // The operator token, which each run has, is enough for a listing.
    const byOperator = await run(['document', 'list', '--space', space.id])
    expect(byOperator.out).toMatch(/ID +NAME +STATUS[\s\S]*zoo\.md +ready/)

    const streamed = await run(
      ['chat', space.endpointId, 'How', 'many', 'red', 'pandas', 'has', 'the', 'zoo?'],
      environment,
    )
    expect([streamed.code, streamed.error]).toEqual([0, ''])
    expect(streamed.out).toMatch(/red pandas[\s\S]*\[1\] zoo\.md/)
    const whole = await result(['chat', space.endpointId, 'When does the zoo open?'], environment)
    expect(whole.references[0].title).toBe('zoo.md')

    const [{ documentId }] = uploaded.files
    const shown = await result(['document', 'show', documentId], environment)
    expect(shown.status).toBe('ready')
    await result(
      ['document', 'update', documentId, '--name', 'swimming.txt', '--metadata', '{"url":"https://x.example"}'],
      environment,
    )
    expect(await result(['document', 'show', documentId], environment)).toMatchObject({
      name: 'swimming.txt',
      metadata: { url: 'https://x.example' },
    })
    await result(['document', 'delete', documentId, '--yes'], environment)
    expect((await run(['document', 'show', documentId], environment)).code).toBe(1)

    expect((await result(['space', 'unpublish', space.id])).published).toBe(false)
    const closed = await run(['chat', space.endpointId], environment, 'Still there?')
    expect([closed.code, closed.error]).toEqual([1, expect.stringContaining('published')])
    await result(['space', 'delete', space.id, '--yes'])
    expect((await result(['space', 'list', name])).total).toBe(0)
  })

  test('reports the file of a failed upload, uploads the others and exits with 1', async () => {
    const { name, environment } = await createOrganisation()
    const { id } = await result(['space', 'create', name, 'Mixed'])
    const good = path.join(folder, 'good.txt')
    const bad = path.join(folder, 'bad.exe')
    writeFileSync(good, 'Good text of enough words.')
    writeFileSync(bad, Buffer.from([0x4d, 0x5a, 0, 0, 0]))
    const done = await run(['document', 'upload', bad, good, '--json'], { ...environment, PORTICO_SPACE_ID: id })
    expect(done.code).toBe(1)
    expect(done.json).toMatchObject({
      uploaded: 1,
      failed: 1,
      files: [
        { file: bad, status: 'refused' },
        { file: good, status: 'processing' },
      ],
    })
  })

  test('retries an upload while the service is busy, with the same idempotency key', async () => {
    const keys: unknown[] = []
    const busy = createServer((request, response) => {
      keys.push(request.headers['idempotency-key'])
      request.resume().on('end', () => {
        response.writeHead(keys.length < 3 ? 503 : 201, { 'content-type': 'application/json' })
        response.end(keys.length < 3 ? '{"error":{"message":"busy"}}' : '{"id":"d","status":"processing"}')
      })
    })
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
    const file = path.join(folder, 'again.txt')
    writeFileSync(file, 'text')
    const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`
    const done = await run(['document', 'upload', file, '--space', 's', '--url', url, '--api-key', 'k'])
    busy.closeAllConnections()
    await new Promise((resolve) => busy.close(resolve))
    expect(done.code).toBe(0)
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })
})

test('embedder install refuses a model that it does not know, and files that differ', async () => {
  const environment = { PORTICO_DATA_DIR: path.join(folder, 'data') }
  const unknown = await run(['embedder', 'install', 'other'], environment)
  expect([unknown.code, unknown.error]).toEqual([1, expect.stringContaining('multilingual-e5-small')])
  writeFileSync(path.join(folder, 'config.json'), '{}')
  const wrong = await run(['embedder', 'install', '--from', folder], environment)
  expect([wrong.code, wrong.error]).toEqual([
    1,
    expect.stringContaining('The file config.json is not the expected one'),
  ])
})
