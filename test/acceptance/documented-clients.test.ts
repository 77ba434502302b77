import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { repository } from '../harness/documented-commands.ts'
import { removeFolder, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { openaiReply } from '../upstream/format-replies.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../upstream/upstream.ts'

/** Every TypeScript example of docs/use/connect is a program that runs as printed, against a scripted host. */

const pages = path.join(repository, 'docs/use/connect')
/** `npm run install:clients` installs them. */
const largeClients = path.join(repository, 'test/clients/node_modules')
const largePackages = /from '(@openai\/agents|@mastra\/|@llamaindex\/)/

const examples = readdirSync(pages).flatMap((page) =>
  [...readFileSync(path.join(pages, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code], index) => ({
    page,
    index,
    code: code!,
  })),
)

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation

/** The fields that the script reads, of chat completions and embeddings. */
interface Sent {
  input?: unknown[]
  messages: { role: string }[]
  tools?: { function: { name: string } }[]
  response_format?: { type: string }
}

/** Calls the first tool, and answers when its result has arrived. */
function answer(request: UpstreamRequest) {
  const sent = JSON.parse(request.body) as Sent
  if (sent.input) {
    const data = sent.input.map((_, index) => ({ index, embedding: [0.5, -1] }))
    const body = JSON.stringify({ data, usage: { prompt_tokens: 2, total_tokens: 2 } })
    return { headers: { 'content-type': 'application/json' }, body }
  }
  if (sent.response_format?.type === 'json_schema') return openaiReply({ text: ['{"name":', '"Basel"}'] }, request)
  const tool = sent.tools?.[0]
  if (tool && sent.messages.at(-1)!.role === 'user')
    return openaiReply({ calls: [{ id: 'call_1', name: tool.function.name, args: { city: 'Basel' } }] }, request)
  return openaiReply({ text: ['It is sunny', ' in Basel.'] }, request)
}

beforeAll(async () => {
  upstream = await startUpstream(answer)
  const deployments = [{ provider: 'host', prices: stagePrices }]
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        {
          id: 'host',
          flavour: 'openai',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'key',
          hosting: 'us',
          models: 'declared',
        },
      ],
      models: [
        ...['model-id', 'MODEL', 'claude-sonnet-4-6'].map((id) => ({
          id,
          kind: 'chat',
          contextTokens: 100_000,
          maxOutputTokens: 4_000,
          deployments: [{ provider: 'host', wireId: 'gpt-4.1', prices: stagePrices }],
        })),
        { id: 'embedding-id', kind: 'embedding', dimensions: 2, contextTokens: 8_000, deployments },
      ],
    },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const run = promisify(execFile)

for (const { page, index, code } of examples) {
  const isMissing = largePackages.test(code) && !existsSync(largeClients)
  const reason = isMissing ? ' (skipped: npm run install:clients installs its package)' : ''
  it.skipIf(isMissing)(`runs example ${index + 1} of ${page}${reason}`, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'portico-clients-'))
    try {
      const inner = path.join(folder, 'example')
      mkdirSync(inner)
      symlinkSync(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'))
      if (largePackages.test(code)) symlinkSync(largeClients, path.join(inner, 'node_modules'))
      const printed = await runProgram(path.join(inner, 'example.mts'), code)
      if (code.includes('console.log')) expect(printed.trim()).not.toBe('')
      expect(printed).not.toMatch(/undefined|\[object Object\]/)
      if (code.includes('sunny')) expect(printed).toContain('It is sunny in Basel.')
      if (/\.parse\(/.test(code)) expect(printed).toMatch(/Basel'? ?\}?$/m)
    } finally {
      await removeFolder(folder)
    }
  })
}

async function runProgram(file: string, code: string): Promise<string> {
  const { apiKey } = organisation
  writeFileSync(file, code.replaceAll('http://127.0.0.1:8080', portico.url).replaceAll('ptc_…', apiKey))
  const env = { PATH: process.env['PATH'], PORTICO_URL: portico.url, PORTICO_API_KEY: apiKey }
  return (await run(process.execPath, ['--no-warnings', file], { env, timeout: 50_000 })).stdout
}
