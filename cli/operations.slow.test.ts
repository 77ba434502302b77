import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCli, type TestCli } from '../test/harness/cli.ts'

let portico: TestCli['portico']
let run: TestCli['run']
let result: TestCli['result']
let createOrganisation: TestCli['createOrganisation']
beforeAll(async () => {
  ;({ portico, run, result, createOrganisation } = await startCli())
})
afterAll(() => portico?.stop())

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

describe('a run of golden questions', () => {
  test('prints measures and failed questions, and exits with 1 below --fail-under', async () => {
    const { name } = await createOrganisation()
    const { id } = await result(['space', 'create', name, 'Handbook', '--model', 'portico/offline'])
    for (const question of ['Who is the mayor?', 'Where is the pond?']) {
      const response = await fetch(`${portico.url}/api/spaces/${id}/golden-questions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${portico.operatorToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          messages: [{ role: 'user', content: question }],
          ...(question.includes('mayor') ? { mustAbstain: true } : { expectedFacts: ['behind the museum'] }),
        }),
      })
      expect(response.status).toBe(201)
    }
    const ask = (...words: string[]) => run(['golden', 'run', id, ...words])
    const reached = await ask('--fail-under', '0.5', '--fail-under', 'abstentionAccuracy=0.5')
    expect([reached.code, reached.error]).toEqual([0, ''])
    expect(reached.out).toMatch(/^passed +1 of 2$/m)
    expect(reached.out).toMatch(/failed +abstention, factShare +Where is the pond\?/)
    const missed = await ask('--fail-under', '0.6', '--json')
    expect([missed.code, missed.json.measures.passedShare]).toEqual([1, 0.5])
    expect(missed.error).toContain('passedShare is 0.500, not 0.6')
    expect((await ask('--fail-under', 'retrievalHitRate=0')).error).toContain('retrievalHitRate is not measured')
    expect((await ask('--fail-under', 'speed=1')).error).toMatch(/speed is not a measure.*passedShare/)
    expect((await ask('--fail-under', '90')).error).toContain('from 0 to 1')
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

  test('with --repair settles holds first and prints their number', async () => {
    const done = await run(['audit', '--repair'])
    expect([done.code, done.out]).toEqual([0, expect.stringMatching(/^Closed holds: 0\.\nNo findings: /)])
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
