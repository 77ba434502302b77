import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../harness/portico.ts'
import { type ModelTurn, openaiReply } from '../upstream/format-replies.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** Tools, schemas, images and files in the playground, in a browser. devtools.test.ts has conversations of text. */

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const pdf = Buffer.from('%PDF-1.4\n%%EOF\n')
const city = { name: 'Basel', population: 180_000, languages: ['German'] }
const screenshots = process.env['PORTICO_SCREENSHOTS']

interface Sent {
  model: string
  messages: { role: string; content: unknown; tool_call_id?: string; tool_calls?: unknown }[]
  tools?: { function: { name: string } }[]
  response_format?: { json_schema: { schema: object } }
}

let stage: TestConsole
let upstream: Upstream
let id: string
let page: Page
let folder: string

const sentBody = () => JSON.parse(upstream.requests.at(-1)!.body) as Sent

/** Two calls of the first tool, then an answer with their results; an object for a schema; a text otherwise. */
function turnOf(sent: Sent): ModelTurn {
  if (sent.messages.at(-1)!.role === 'tool') return { text: ['Sunny in both', ' cities.'] }
  if (sent.response_format) {
    const isWrong = JSON.stringify(sent.messages).includes('wrong')
    return { text: [JSON.stringify(isWrong ? { ...city, population: 'many' } : city)] }
  }
  const call = (index: number, name: string) => ({
    id: `call_${index}`,
    name: sent.tools![0]!.function.name,
    args: { city: name },
  })
  if (sent.tools) return { calls: [call(1, 'Basel'), call(2, 'Rome')] }
  return { text: ['I see it.'] }
}

const answer = (request: UpstreamRequest): UpstreamReply => openaiReply(turnOf(JSON.parse(request.body)), request)

beforeAll(async () => {
  if (!hasBrowser) return
  folder = mkdtempSync(path.join(tmpdir(), 'portico-playground-'))
  upstream = await startUpstream(answer)
  const prices = { input: '1', output: '2' }
  const models = ['gpt-4.1', 'gpt-3.5-turbo'].map((wireId) => ({
    id: `house-${wireId}`,
    contextTokens: 100_000,
    maxOutputTokens: 2_000,
    deployments: [{ provider: 'host', wireId, prices }],
  }))
  stage = await startConsole({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'host', flavour: 'openai', baseUrl: upstream.url, apiKey: 'key', hosting: 'us', models: 'declared' },
      ],
      models,
    },
  })
  const { operator } = stage.portico
  const fields = { name: 'Acme', plan: 'enterprise', gatewayEnabled: true, monthlyBudgetUsd: '10' }
  id = (await operator('POST', '/api/organisations', fields)).body.id
  await operator('PUT', `/api/organisations/${id}/opt-in`, { optIn: true })
  ;({ page } = await stage.openAs({ email: 'ada@example.org', organisationId: id, role: 'administrator' }))
})
afterEach(() => upstream?.script(answer))
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
  if (folder) await removeFolder(folder)
})

const seeing = 'house-gpt-4.1'
const open = async (on = page, model = seeing) => {
  await on.goto(`${stage.url}/organisations/${id}/playground?model=${model}`)
  await on.getByRole('heading', { level: 1 }).waitFor()
}
const message = (on = page) => on.locator('form textarea').last()
const ask = async (text: string, on = page) => {
  await message(on).fill(text)
  await on.keyboard.press('Enter')
}
const screenshot = async (on: Page, name: string) => {
  if (screenshots === undefined) return
  mkdirSync(screenshots, { recursive: true })
  await on.screenshot({ path: path.join(screenshots, `playground-${name}.png`), fullPage: true })
}

describe.skipIf(!hasBrowser)(`tools in the playground${skipReason}`, () => {
  it('shows arguments while they arrive, takes a result for each call, and continues', async () => {
    await open()
    await page.getByRole('switch', { name: /^Tools/ }).click()
    await expectAccessible(page)
    let release = () => {}
    const until = new Promise<void>((resolve) => (release = resolve))
    upstream.script((request) => {
      const reply = answer(request)
      const body = String(reply.body)
      const afterFirst = body.indexOf('\n\n', body.indexOf('arguments')) + 2
      return { ...reply, holdAt: { bytes: afterFirst, until } }
    })
    await ask('How is the weather in Basel and Rome?')
    const cards = page.getByRole('region', { name: 'Call of weather' })
    await cards.first().getByText('{"city"', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'Send 2 results' }).count()).toBe(0)
    release()
    upstream.script(answer)
    await page.getByRole('button', { name: 'Send 2 results' }).click()
    await page.getByText('Enter what the function returns.').first().waitFor()
    await expectAccessible(page)
    await cards.nth(0).getByLabel('Result of weather').fill('{"sky":"sun"}')
    await cards.nth(1).getByLabel('Result of weather').fill('21 degrees')
    await screenshot(page, 'tools')
    await page.getByRole('button', { name: 'Send 2 results' }).click()
    await page.getByText('Sunny in both cities.').waitFor()
    expect(sentBody().messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1' }, { id: 'call_2', function: { arguments: '{"city":"Rome"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '{"sky":"sun"}' },
      { role: 'tool', tool_call_id: 'call_2', content: '21 degrees' },
    ])
    await expectAccessible(page)
  })

  it('names the place of an invalid definition at the editor, and sends nothing', async () => {
    await open()
    await page.getByRole('switch', { name: /^Tools/ }).click()
    const editor = page.getByLabel('Function definitions, as a JSON list')
    await editor.fill('[\n  {"name": "a", "paramters": {}}\n]')
    const before = upstream.requests.length
    await ask('Hello')
    await page.getByText('tools[0].paramters: is unknown.', { exact: false }).waitFor()
    await page.getByText('The message was not sent. Correct the marked fields first.').waitFor()
    await editor.fill('[\n  {"name": "a",}\n]')
    await page.getByText('Line 2, column 16: this is not valid JSON.').waitFor()
    expect(await editor.getAttribute('aria-invalid')).toBe('true')
    expect(upstream.requests).toHaveLength(before)
    await page.getByRole('button', { name: 'Orders' }).click()
    await message().press('Enter')
    await page.getByRole('region', { name: 'Call of find_orders' }).first().waitFor()
    expect(sentBody().tools).toHaveLength(2)
  })
})

describe.skipIf(!hasBrowser)(`a schema in the playground${skipReason}`, () => {
  it('shows the answer as JSON, and whether it matches', async () => {
    await open()
    await page.getByRole('switch', { name: /^Answer as JSON/ }).click()
    await ask('Which city?')
    await page.getByText('Matches the schema.', { exact: false }).waitFor()
    const shown = page.getByRole('region', { name: 'Answer as JSON' })
    expect(JSON.parse(await shown.first().innerText())).toEqual(city)
    expect(sentBody().response_format!.json_schema.schema).toMatchObject({
      required: ['name', 'population', 'languages'],
    })
    await ask('A wrong one, please.')
    await page.getByText('At /population: the value has another type than the schema says.').waitFor()
    await screenshot(page, 'schema')
    await expectAccessible(page)
  })
})

describe.skipIf(!hasBrowser)(`files in the playground${skipReason}`, () => {
  const files = [
    { name: 'dot.png', mimeType: 'image/png', buffer: png },
    { name: 'page.pdf', mimeType: 'application/pdf', buffer: pdf },
    { name: 'named.png', mimeType: 'image/png', buffer: Buffer.from('BM, a bitmap') },
    { name: 'empty.png', mimeType: 'image/png', buffer: Buffer.alloc(0) },
  ]

  it('checks them before they are sent, previews them, and sends the rest', async () => {
    await open()
    await page.locator('input[type=file]').setInputFiles(files)
    const list = page.getByRole('list', { name: 'Files of the message' })
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2)
    const refused = page.getByRole('alert')
    expect(await refused.innerText()).toMatch(/named\.png: .*Only PNG[^]*empty\.png: .*empty/)
    await screenshot(page, 'files')
    await expectAccessible(page)
    // From the disk: the browser reads only its size.
    const large = path.join(folder, 'large.pdf')
    writeFileSync(large, '')
    truncateSync(large, 20 * 1024 * 1024 + 1)
    await page.locator('input[type=file]').setInputFiles(large)
    await page.getByText('large.pdf: not added. A file can have at most 20 MiB.').waitFor()
    await page.getByRole('button', { name: 'Remove page.pdf' }).click()
    await ask('What is it?')
    await page.getByText('I see it.').waitFor()
    expect(sentBody().messages).toMatchObject([
      { content: [{ text: 'What is it?' }, { image_url: { url: `data:image/png;base64,${png.toString('base64')}` } }] },
    ])
  })

  it('takes files that are dropped or pasted', async () => {
    await open()
    for (const kind of ['drop', 'paste']) {
      await message().evaluate(
        (field, { kind: name, bytes }) => {
          const data = new DataTransfer()
          data.items.add(new File([new Uint8Array(bytes)], `${name}.png`, { type: 'image/png' }))
          const event =
            name === 'drop'
              ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
              : new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
          field.dispatchEvent(event)
        },
        { kind, bytes: [...png] },
      )
      await page.getByText(`${kind}.png`).waitFor()
    }
  })

  it('disables models that cannot read them, with the reason', async () => {
    await open(page, 'house-gpt-3.5-turbo')
    await page.locator('input[type=file]').setInputFiles(files.slice(0, 1))
    await page.getByText('This model cannot answer the request: reads no images.', { exact: false }).waitFor()
    await page.getByRole('combobox', { name: 'Model' }).click()
    const cannot = page.getByRole('option', { name: /house-gpt-3\.5-turbo.*reads no images/s })
    expect(await cannot.getAttribute('data-combobox-disabled')).toBe('true')
    await page.getByRole('option', { name: seeing, exact: true }).click()
    await ask('What is it?')
    await page.getByText('I see it.').waitFor()
    expect(sentBody().model).toBe('gpt-4.1')
  })
})

describe.skipIf(!hasBrowser)(`the code of the playground${skipReason}`, () => {
  it('sends what is on the page', { timeout: 60_000 }, async () => {
    const { key } = (await stage.portico.operator('POST', `/api/organisations/${id}/api-key`)).body as { key: string }
    await open()
    await page.getByRole('switch', { name: /^Tools/ }).click()
    await page.getByLabel('System prompt').fill('Costs `$5` \\ "each" – it\'s fine.')
    await page.locator('input[type=file]').setInputFiles([{ name: "it's.png", mimeType: 'image/png', buffer: png }])
    await ask('How is the weather there?')
    const results = page.getByLabel('Result of weather')
    await results.nth(0).fill('sun')
    await results.nth(1).fill('rain')
    await page.getByRole('button', { name: 'Send 2 results' }).click()
    await page.getByText('Sunny in both cities.').waitFor()
    const { stream: _stream, stream_options: _options, ...expected } = sentBody() as Sent & Record<string, unknown>
    await page.getByRole('button', { name: 'View code' }).click()
    await page.getByRole('dialog').waitFor()
    await screenshot(page, 'code')
    await expectAccessible(page)
    writeFileSync(path.join(folder, "it's.png"), png)
    symlinkSync(path.resolve(import.meta.dirname, '../../node_modules'), path.join(folder, 'node_modules'))
    for (const [label, file, program] of [
      ['curl', 'code.sh', 'sh'],
      ['OpenAI · TypeScript', 'code.mts', process.execPath],
    ] as const) {
      await page.getByRole('tab', { name: label }).click()
      const code = await page.getByRole('tabpanel', { name: label }).locator('pre').innerText()
      writeFileSync(path.join(folder, file), code.replace('YOUR_API_KEY', key))
      const { stdout } = await run(program, [file], { cwd: folder })
      expect(stdout, label).toContain('Sunny in both cities.')
      expect(sentBody(), label).toEqual(expected)
    }
    await page.getByRole('tab', { name: 'OpenAI · Python' }).click()
    const code = await page.getByRole('tabpanel', { name: 'OpenAI · Python' }).locator('pre').innerText()
    writeFileSync(path.join(folder, 'code.py'), code)
    const parse = 'import ast, sys; ast.parse(open(sys.argv[1]).read())'
    await run('python3', ['-c', parse, 'code.py'], { cwd: folder }).catch((error: { code?: string }) => {
      if (error.code !== 'ENOENT') throw error
    })
  })
})

describe.skipIf(!hasBrowser)(`the playground in German${skipReason}`, () => {
  it('is accessible and fits a narrow, dark window with calls, a schema and files', async () => {
    const options = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
    const { page: german } = await stage.openAs(
      { email: 'grete@example.org', organisationId: id, role: 'administrator' },
      options,
    )
    await open(german)
    await german.getByRole('switch', { name: /^Werkzeuge/ }).click()
    await german.getByRole('switch', { name: /^Antwort als JSON/ }).click()
    await german.locator('input[type=file]').setInputFiles([
      { name: `${'sehr-langer-name-'.repeat(6)}.png`, mimeType: 'image/png', buffer: png },
      { name: 'leer.png', mimeType: 'image/png', buffer: Buffer.alloc(0) },
    ])
    await german.getByText('leer.png: nicht hinzugefügt. Die Datei ist leer.').waitFor()
    await expectAccessible(german)
    await expectNoSidewaysScroll(german)
    await german.getByRole('switch', { name: /^Antwort als JSON/ }).click()
    await ask('Wie ist das Wetter?', german)
    await german.getByRole('button', { name: '2 Ergebnisse senden' }).waitFor()
    await screenshot(german, 'narrow-dark')
    await expectAccessible(german)
    await expectNoSidewaysScroll(german)
    expect(stage.problems).toEqual([])
  })
})

const run = promisify(execFile)
