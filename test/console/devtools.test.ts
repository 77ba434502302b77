import { execFile } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../harness/portico.ts'
import { type ModelTurn, openaiReply } from '../upstream/format-replies.ts'
import { chatStreamBody } from '../upstream/replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'
import {
  countRequests,
  expectAccessible,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** Team Settings > Developer Tools, the playground and receipts, in a browser. */

const offline = 'portico/offline'
const keyPattern = /ptc_[0-9A-Za-z]{40}/

const answered = 'It is sunny in Basel.'
/** Calls the tool, then answers with its result. */
function turnOf(body: string): ModelTurn {
  if (body.includes(answered)) return { text: [answered] }
  if (body.includes('response_format')) return { text: ['{"city":"Basel"}'] }
  return { calls: [{ id: 'call_1', name: 'weather', args: { city: 'Basel' } }] }
}

let stage: TestConsole
let upstream: Upstream
let id: string
let page: Page

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream()
  const body = chatStreamBody(['These', ' words', ' were', ' seen', ' and these not'])
  upstream.script((request) =>
    /"(tools|response_format)"/.test(request.body)
      ? openaiReply(turnOf(request.body), request)
      : {
          headers: { 'content-type': 'text/event-stream', connection: 'close' },
          body,
          stallAfterBytes: body.indexOf(' and these not') - 200,
        },
  )
  const prices = { input: '1', output: '2' }
  stage = await startConsole({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'stalls', baseUrl: upstream.url, apiKey: 'key', hosting: 'us' },
        { id: 'europe', baseUrl: upstream.url, apiKey: 'key', hosting: 'eu' },
      ],
      models: [
        {
          id: 'slow',
          contextTokens: 8000,
          maxOutputTokens: 2000,
          deployments: [
            { provider: 'stalls', prices },
            { provider: 'europe', prices },
          ],
        },
      ],
    },
  })
  const { operator } = stage.portico
  const fields = { name: 'Acme', plan: 'enterprise', gatewayEnabled: true, monthlyBudgetUsd: '10', markupPercent: '25' }
  id = (await operator('POST', '/api/organisations', fields)).body.id
  // The offline model is free; a price makes its receipts worth reading.
  const path = `/api/deployments/${encodeURIComponent(offline)}/prices`
  expect((await operator('POST', path, { input: '3', output: '15' })).status).toBe(201)
  ;({ page } = await stage.openAs({ email: 'ada@example.org', organisationId: id, role: 'administrator' }))
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})

const address = (name: string) => `${stage.url}/organisations/${id}/${name}`
const callWith = (key: string, model = offline) =>
  fetch(`${stage.portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })

/** Reads the key in the dialog and closes it. */
async function readNewKey(): Promise<string> {
  const dialog = page.getByRole('dialog')
  const key = await dialog.getByLabel('API key').inputValue()
  expect(key).toMatch(new RegExp(`^${keyPattern.source}$`))
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'I have stored the key' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return key
}

let key: string

describe.skipIf(!hasBrowser)(`Developer Tools${skipReason}`, () => {
  it('loads its data with one request', async () => {
    const requests = await countRequests(page, () => page.goto(address('developer-tools')))
    expect(requests.toSorted()).toEqual(['/api/console/organisations/' + id + '/developer-tools', '/api/me'])
    await page.getByRole('heading', { name: 'Gateway access' }).waitFor()
    await expectAccessible(page)
  })

  it('opts in, and makes the key, which it shows once', async () => {
    await page.getByText('Closed', { exact: true }).waitFor()
    await page.getByLabel('Gateway access for this team').click()
    await page.getByText('Open', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create API key' }).click()
    key = await readNewKey()
    expect((await callWith(key)).status).toBe(200)
    expect(await page.content()).toContain(key)
    await page.reload()
    await page.getByText(`${key.slice(0, 8)}…${key.slice(-4)}`).waitFor()
    await page.getByText('ada@example.org').first().waitFor()
    expect(await page.content()).not.toMatch(keyPattern)
  })

  it('replaces the key after a question, and the former one is invalid', async () => {
    await page.getByRole('button', { name: 'Replace key' }).click()
    const question = page.getByRole('dialog')
    await question.getByText(`Replace the key ${key.slice(0, 8)}…${key.slice(-4)}?`).waitFor()
    await expectAccessible(page)
    await question.getByRole('button', { name: 'Replace key' }).click()
    await page.getByRole('dialog').getByLabel('API key').waitFor()
    const former = key
    key = await readNewKey()
    expect(key).not.toBe(former)
    expect([(await callWith(former)).status, (await callWith(key)).status]).toEqual([401, 200])
  })

  it('shows examples that run as they are', async () => {
    await page.getByRole('combobox', { name: 'Model', exact: true }).click()
    await page.getByRole('option', { name: offline, exact: true }).click()
    const snippets = await readSnippets()
    expect(Object.keys(snippets)).toEqual([
      'curl',
      'OpenAI · TypeScript',
      'OpenAI · Python',
      'AI SDK',
      'LangChain · TypeScript',
      'LangChain · Python',
    ])
    for (const code of Object.values(snippets)) {
      expect(code).toContain(key)
      expect(code).toContain(`${stage.portico.url}/v1/gateway`)
    }
    await runSnippets(snippets)
  })

  it('shows examples of version 2 that run as they are', async () => {
    await page.getByText('Version 2: tools, schemas, images').click()
    await page.getByRole('combobox', { name: 'Model', exact: true }).click()
    await page.getByRole('option', { name: 'slow', exact: true }).click()
    const snippets = await readSnippets()
    const names = ['curl · tool', 'curl · schema', 'OpenAI · TypeScript', 'AI SDK', 'Anthropic · TypeScript']
    expect(Object.keys(snippets)).toEqual(names)
    for (const code of Object.values(snippets)) {
      expect(code).toContain(key)
      expect(code).toContain(`${stage.portico.url}/v2/gateway`)
    }
    await expectAccessible(page)
    await inFolder(async (file) => {
      const printed = async (name: string) => {
        const isShell = name.startsWith('curl')
        const example = file(isShell ? 'example.sh' : 'example.mts', snippets[name]!)
        return (await run(isShell ? 'sh' : process.execPath, [example])).stdout.trim()
      }
      const messageOf = (text: string) => (JSON.parse(text) as { choices: [{ message: object }] }).choices[0].message
      const call = { function: { name: 'weather', arguments: '{"city":"Basel"}' } }
      expect(messageOf(await printed('curl · tool'))).toMatchObject({ tool_calls: [call] })
      expect(messageOf(await printed('curl · schema'))).toMatchObject({ content: '{"city":"Basel"}' })
      expect(await printed('OpenAI · TypeScript')).toBe(answered)
      expect(await printed('AI SDK')).toBe(answered)
      expect(await printed('Anthropic · TypeScript')).toBe("weather { city: 'Basel' }")
    })
  })

  it('disables a model, which then is not found, and enables it again', async () => {
    const change = page.getByRole('switch', { name: `${offline} enabled` })
    await change.click()
    await expect.poll(async () => (await callWith(key)).status).toBe(404)
    await page.reload()
    expect(await change.isChecked()).toBe(false)
    await change.click()
    await expect.poll(async () => (await callWith(key)).status).toBe(200)
  })

  it('filters the models by text and by region', async () => {
    const table = page.getByRole('table', { name: 'Models' })
    await page.getByLabel('Search models').fill('slow')
    await expect.poll(() => table.getByRole('row').count()).toBe(2)
    await page.getByText('EU only').click()
    await table.getByRole('link', { name: 'eu/slow' }).waitFor()
    await page.getByLabel('Search models').fill('')
    await expect.poll(() => table.getByRole('row').count()).toBe(2)
    await page.getByText('All regions').click()
    await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(2)
  })
})

describe.skipIf(!hasBrowser)(`the playground${skipReason}`, () => {
  it('streams an answer, and its receipt has the same cost', async () => {
    const requests = await countRequests(page, () => page.goto(`${address('playground')}?model=${offline}`))
    expect(requests).toHaveLength(2)
    await expectAccessible(page)
    await page.getByLabel('System prompt').fill('Answer in one sentence.')
    await page.getByLabel('Message').fill('What is a portico?')
    await page.keyboard.press('Enter')
    await page.getByText('What is a portico?').first().waitFor()
    const measured = await page.getByText(/^cost US\$/).textContent()
    await page.getByText(/first text after/).waitFor()
    const cost = /US\$[\d.]+/.exec(measured!)![0]
    expect(Number(cost.slice(3))).toBeGreaterThan(0)
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    const table = page.getByRole('table', { name: 'Cost' })
    expect(await table.locator('tfoot th').last().textContent()).toBe(cost)
    expect(await table.getByRole('row', { name: /^Input/ }).textContent()).toContain('US$3.00')
    expect(await table.getByRole('row', { name: /^Markup 25%/ }).count()).toBe(1)
    await expectAccessible(page)
  })

  it('stops an answer, and its receipt names the client as the end', async () => {
    await page.goto(`${address('playground')}?model=slow`)
    await page.getByLabel('Message').fill('Tell me more.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/These words/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped. The text so far is billed.').waitFor()
    await page.getByText(/^cost US\$0\.0/).waitFor()
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByText('Client left').waitFor()
    await page.getByText('Portico counted the tokens.').waitFor()
  })

  it('names the code of an error and the way out', async () => {
    await page.goto(`${address('playground')}?model=${offline}`)
    await page.getByLabel('Message').waitFor()
    await stage.portico.operator('PATCH', `/api/organisations/${id}`, { monthlyBudgetUsd: '0' })
    await page.getByLabel('Message').fill('Hello')
    await page.keyboard.press('Enter')
    const alert = page.getByRole('alert')
    await alert.getByText('insufficient_quota').waitFor()
    await alert.getByRole('link', { name: 'Open Usage' }).waitFor()
    await expectAccessible(page)
    await stage.portico.operator('PATCH', `/api/organisations/${id}`, { monthlyBudgetUsd: '10' })
  })
})

describe.skipIf(!hasBrowser)(`receipts${skipReason}`, () => {
  it('are found by request id, and an unknown id keeps the search', async () => {
    const requestId = (await callWith(key)).headers.get('x-request-id')!
    await page.goto(address('receipts'))
    for (const [text, heading] of [
      ['req_unknown', 'No receipt with this id'],
      [requestId, 'Cost'],
    ] as const) {
      await page.getByLabel('Request id').fill(text)
      await page.getByRole('button', { name: 'Show receipt' }).click()
      await page.getByRole('heading', { name: heading }).waitFor()
    }
    expect(page.url()).toContain(requestId)
    expect(stage.problems).toEqual([])
  })

  it('show in plain words that an answer does not match the schema of its request', async () => {
    // The offline model quotes texts; it writes no JSON.
    const answer = await fetch(`${stage.portico.url}/v2/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: offline,
        messages: [{ role: 'user', content: 'Hello' }],
        response_format: { type: 'json_schema', json_schema: { name: 'greeting', schema: { type: 'object' } } },
      }),
    })
    expect(answer.status).toBe(200)
    await page.goto(address(`receipts/${answer.headers.get('x-request-id')}`))
    await page.getByText('The request had a schema for its answer, but the answer is not JSON.').waitFor()
    await expectAccessible(page)
    expect(stage.problems).toEqual([])
  })
})

const run = promisify(execFile)

/** By the names of their tabs. */
async function readSnippets(): Promise<Record<string, string>> {
  const snippets: Record<string, string> = {}
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click()
    const panel = page.getByRole('tabpanel', { name: (await tab.textContent())! })
    // Its colours have arrived.
    await panel.locator('pre [class^=hljs-]').first().waitFor()
    snippets[(await tab.textContent())!] = await panel.locator('pre').innerText()
  }
  return snippets
}

/** Runs each example as a program that finds the packages of this repository. Python is parsed only: its packages are not installed. */
async function runSnippets(snippets: Record<string, string>): Promise<void> {
  await inFolder(async (file) => {
    const { stdout: answer } = await run('sh', [file('example.sh', snippets['curl']!)])
    const text: string = JSON.parse(answer).choices[0].message.content
    expect(text.length).toBeGreaterThan(10)
    for (const name of ['OpenAI · TypeScript', 'AI SDK', 'LangChain · TypeScript']) {
      const { stdout } = await run(process.execPath, [file('example.mts', snippets[name]!)])
      expect(stdout.trim(), name).toBe(text.trim())
    }
    for (const name of ['OpenAI · Python', 'LangChain · Python']) {
      const parse = 'import ast, sys; ast.parse(open(sys.argv[1]).read())'
      const parsed = run('python3', ['-c', parse, file('example.py', snippets[name]!)])
      await parsed.catch((error: { code?: string }) => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  })
}

/** Files in a folder that has the packages of this repository. */
async function inFolder(use: (file: (name: string, code: string) => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-snippets-'))
  symlinkSync(path.resolve(import.meta.dirname, '../../node_modules'), path.join(folder, 'node_modules'))
  try {
    await use((name, code) => {
      writeFileSync(path.join(folder, name), code)
      return path.join(folder, name)
    })
  } finally {
    await removeFolder(folder)
  }
}
