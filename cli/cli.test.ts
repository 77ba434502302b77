import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestPortico, startPortico } from '../test/harness/portico.ts'
import { runCli } from './run.ts'

let portico: TestPortico
let folder: string
beforeAll(async () => {
  portico = await startPortico()
  folder = mkdtempSync(path.join(tmpdir(), 'portico-cli-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await portico.stop()
})

interface Run {
  code: number
  out: string
  error: string
  // Tests look into answers of many shapes; each asserts the one it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any
}

async function run(
  words: string[],
  environment: Record<string, string> = {},
  input = '',
  isTerminal = false,
): Promise<Run> {
  let out = ''
  let error = ''
  const code = await runCli(words, {
    environment: { PORTICO_URL: portico.url, PORTICO_OPERATOR_TOKEN: portico.operatorToken, ...environment },
    writeOut: (text) => void (out += text),
    writeError: (text) => void (error += text),
    isTerminal,
    readLine: () => Promise.resolve(input),
    readInput: () => Promise.resolve(input),
    signal: new AbortController().signal,
  })
  return { code, out, error, json: words.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
}

/** The JSON result of a command that must succeed. */
async function result(words: string[], environment?: Record<string, string>): Promise<Run['json']> {
  const done = await run([...words, '--json'], environment)
  if (done.code !== 0 || done.error !== '')
    throw new Error(`portico ${words.join(' ')} ended with ${done.code}: ${done.error}${done.out}`)
  return done.json
}

let organisations = 0
async function createOrganisation() {
  const name = `CLI organisation ${++organisations}`
  const words = ['org', 'create', name, '--plan', 'enterprise', '--budget', '50', '--enable', '--opt-in']
  const { organisation, apiKey } = await result(words)
  return { name, id: organisation.id, environment: { PORTICO_API_KEY: apiKey.key } }
}

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
    writeFileSync(path.join(docs, 'picture.png'), 'no document')
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

describe('providers and models', () => {
  test('declares a provider with its key, a model, a deployment and a price that can be called', async () => {
    const key = 'sk-secret-provider-key-4711'
    const added = await run(
      [
        'provider',
        'add',
        'lab',
        '--format',
        'openai',
        '--base-url',
        'http://127.0.0.1:9/v1',
        '--hosting',
        'local',
        '--models',
        'declared',
        '--key-env',
        'LAB_KEY',
      ],
      { LAB_KEY: key },
    )
    expect([added.code, added.error]).toEqual([0, ''])
    expect(added.out).toContain('…4711')
    expect(added.out).not.toContain(key)
    await result([
      'model',
      'add',
      'house-model',
      '--context-tokens',
      '32768',
      '--maximum-output-tokens',
      '4096',
      '--alias',
      'house',
    ])
    await result(['deployment', 'add', 'house-1', '--model', 'house-model', '--provider', 'lab', '--wire-id', 'llama'])
    await result(['price', 'set', 'house-1', '--input', '0.15', '--output', '0.6'])
    expect(await result(['model', 'show', 'house-model'])).toMatchObject({
      callableIds: ['house-model'],
      aliases: ['house'],
    })
    const listed = await run(['model', 'list'])
    expect(listed.out).toContain('house-model')
    expect((await result(['provider', 'disable', 'lab'])).enabled).toBe(false)
    expect((await result(['model', 'show', 'house-model'])).callableIds).toEqual([])
    expect((await result(['provider', 'enable', 'lab'])).apiKeyLastFour).toBe('4711')
    for (const words of [
      ['deployment', 'remove', 'house-1', '--yes'],
      ['model', 'remove', 'house-model', '--yes'],
      ['provider', 'remove', 'lab', '--yes'],
    ]) {
      await result(words)
    }
    expect((await run(['provider', 'show', 'lab'])).code).toBe(1)
  })
})

describe('usage', () => {
  test('a receipt and a report contain the cost of a call', async () => {
    const { name, environment } = await createOrganisation()
    const response = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': environment.PORTICO_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'portico/offline', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    await response.text()
    const requestId = response.headers.get('x-request-id')!
    expect(await result(['receipt', requestId])).toMatchObject({ requestId, model: 'portico/offline' })
    expect((await run(['receipt', requestId])).out).toMatch(/billed USD/)
    expect(await result(['usage', name, '--by', 'model'])).toMatchObject({
      rows: [{ model: 'portico/offline', requests: 1 }],
    })
    expect((await run(['usage', name])).out).toMatch(/DAY +REQUESTS/)
    expect((await run(['usage', name, '--csv'])).out).toMatch(/^day,/)
    expect(await result(['budget', name])).toMatchObject({ budgetUsd: '50' })
    expect((await run(['receipt', 'req_unknown'])).code).toBe(1)
  })
})

describe('an audit', () => {
  const answerWith = async (body: object) => {
    const server = createServer((_request, response) => response.end(JSON.stringify(body)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const done = await run(['audit', '--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`])
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    return done
  }

  test('without findings exits with 0', async () => {
    const done = await answerWith({ ok: true, checkedAt: '', areas: ['ledger', 'index'], findings: [] })
    expect([done.code, done.out]).toEqual([0, 'No findings: ledger, index.\n'])
  })

  test('with a finding prints it and exits with 1', async () => {
    const finding = { area: 'ledger', rule: 'entries add up', subject: 'req_1', expected: '5', found: '4' }
    const done = await answerWith({ ok: false, checkedAt: '', areas: ['ledger'], findings: [finding] })
    expect(done.code).toBe(1)
    expect(done.out).toMatch(/ledger +entries add up +req_1 +5 +4/)
  })
})

describe('the operator token', () => {
  test('can be replaced with the configured one after a loss; each new one invalidates the former', async () => {
    const listWith = async (token: string) => (await run(['org', 'list'], { PORTICO_OPERATOR_TOKEN: token })).code
    expect((await run(['token', 'rotate'])).error).toContain('--yes')
    const first = await result(['token', 'rotate', '--yes'])
    expect(await listWith(first.token)).toBe(0)
    const { out } = await run(['token', 'rotate', '--yes'], { PORTICO_OPERATOR_TOKEN: first.token })
    const second = /^export PORTICO_OPERATOR_TOKEN=(pto_\w+)$/m.exec(out)![1]!
    expect([await listWith(first.token), await listWith(second), await listWith(portico.operatorToken)]).toEqual([
      1, 0, 0,
    ])
  })
})

describe('an error', () => {
  test('exits with 2 and a remedy if the command line is wrong', async () => {
    const wrong: [string[], Record<string, string>, RegExp][] = [
      [['org', 'crate'], {}, /Did you mean create/],
      [['org', 'create'], {}, /missing required argument 'name'/],
      [['org', 'list', '--limit', 'many'], {}, /whole number/],
      [['org', 'update', 'x'], {}, /There is no organisation|Nothing to change/],
      [['org', 'list'], { PORTICO_OPERATOR_TOKEN: '' }, /PORTICO_OPERATOR_TOKEN/],
      [['document', 'show', 'id'], { PORTICO_API_KEY: '' }, /PORTICO_API_KEY/],
      [['document', 'list'], { PORTICO_API_KEY: 'k' }, /PORTICO_SPACE_ID/],
      [['document', 'upload', '/no/such/file'], { PORTICO_API_KEY: 'k' }, /does not exist/],
      [
        ['document', 'upload', import.meta.filename, '--metadata', '[1]', '--space', 's'],
        { PORTICO_API_KEY: 'k' },
        /JSON object/,
      ],
      [['org', 'list', '--url', 'nowhere'], {}, /http:\/\/127\.0\.0\.1:8080/],
      [['org', 'list', '--token-file', '/no/such/file'], {}, /cannot be read/],
      [['provider', 'add', 'x', '--format', 'openai', '--key-env', 'NOT_SET'], {}, /NOT_SET/],
    ]
    for (const [words, environment, message] of wrong) {
      const done = await run(words, environment)
      expect(done.error).toMatch(message)
      expect([words, done.code, done.out]).toEqual([words, words[1] === 'update' ? 1 : 2, ''])
    }
  })

  test('exits with 1 and a remedy if the service rejects the request or is unreachable', async () => {
    const { name } = await createOrganisation()
    const refused = await run(['org', 'update', name, '--budget', 'ten'])
    expect([refused.code, refused.error]).toEqual([1, expect.stringContaining('monthlyBudgetUsd')])
    const unauthorised = await run(['org', 'list'], { PORTICO_OPERATOR_TOKEN: 'pto_wrong' })
    expect([unauthorised.code, unauthorised.error]).toEqual([1, expect.stringContaining('--token-file')])
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const away = await run(['org', 'list'], { PORTICO_URL: `http://127.0.0.1:${port}` })
    expect([away.code, away.error]).toEqual([1, expect.stringMatching(/ECONNREFUSED.*PORTICO_URL/)])
  })

  test('is JSON on standard error with --json', async () => {
    const done = await run(['org', 'show', '00000000-0000-4000-8000-000000000000', '--json'])
    expect([done.code, done.out]).toEqual([1, ''])
    expect(JSON.parse(done.error).error).toMatchObject({ status: 404, code: 'organisation_not_found' })
  })

  test('exits with 1 if an answer is incomplete or fails', async () => {
    const events = ['event: assistant_write\ndata: {"delta":"Half an an"}\n\n']
    const server = createServer((_request, response) => response.end(events.join('')))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = () => run(['chat', 'e', 'Why?', '--url', url, '--api-key', 'k'])
    const broken = await ask()
    expect([broken.code, broken.out, broken.error]).toEqual([
      1,
      'Half an an',
      expect.stringContaining('middle of the answer'),
    ])
    events.push('event: error\ndata: {"error":"The model went away."}\n\n')
    const failed = await ask()
    expect([failed.code, failed.error]).toEqual([1, expect.stringContaining('The model went away.')])
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  test('removes escape sequences from names', async () => {
    const evil = 'Evil \u001b]0;title\u0007 name'
    const { organisation } = await result(['org', 'create', evil, '--no-key'])
    const shown = await run(['org', 'show', organisation.id])
    expect(shown.out).toContain('Evil ]0;title name')
  })
})

test('every command has a description and examples in its help', async () => {
  const pending: string[][] = [[]]
  const seen: string[] = []
  while (pending.length > 0) {
    const words = pending.pop()!
    const help = await run([...words, '--help'])
    expect([words, help.code]).toEqual([words, 0])
    const children = [...(help.out.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(
      ([, name]) => name!,
    )
    for (const child of children) if (child !== 'help') pending.push([...words, child])
    if (children.length === 0) {
      seen.push(words.join(' '))
      expect(help.out).toContain(`Examples:\n  $ portico ${words.join(' ')}`)
    }
  }
  expect(seen.length).toBeGreaterThan(35)
})
