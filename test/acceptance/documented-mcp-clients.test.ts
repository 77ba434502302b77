import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { repository } from '../harness/documented-commands.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  removeFolder,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/**
 * Every configuration of docs/use/connect/mcp-*.md is read as its client reads it: strictly, with the client's placeholders. The official client
 * of the protocol then connects with exactly the address and the headers of the page.
 */

const folder = path.join(repository, 'docs/use/connect')
const address = z.literal('https://portico.example.com/v2/endpoints/ENDPOINT_ID/mcp')
const headers = z.record(z.string(), z.string())

/** What a client sends, before its placeholders have values. */
interface Connection {
  url: string
  headers: Record<string, string>
  /** Matches the placeholder for the key in a header. */
  placeholder: RegExp
}

/** `.mcp.json` of Claude Code: https://code.claude.com/docs/en/mcp */
const claudeCode = z
  .strictObject({
    mcpServers: z.strictObject({ handbook: z.strictObject({ type: z.literal('http'), url: address, headers }) }),
  })
  .transform(({ mcpServers: { handbook } }): Connection => ({ ...handbook, placeholder: /\$\{PORTICO_API_KEY\}/ }))

/** `claude_desktop_config.json` with mcp-remote, which replaces `${NAME}` in headers: https://www.npmjs.com/package/mcp-remote */
const claudeDesktop = z
  .strictObject({
    mcpServers: z.strictObject({
      handbook: z.strictObject({
        command: z.literal('npx'),
        args: z.tuple([z.literal('-y'), z.literal('mcp-remote'), address, z.literal('--header'), z.string()]),
        env: z.strictObject({ PORTICO_API_KEY: z.literal('ptc_…') }),
      }),
    }),
  })
  .transform(({ mcpServers: { handbook } }): Connection => {
    const [, , url, , header] = handbook.args
    // mcp-remote splits at the first colon. Without a space: some clients break such arguments apart.
    const [name, value] = z.tuple([z.string(), z.string().regex(/^\S+$/)]).parse(header.split(':'))
    return { url, headers: { [name]: value }, placeholder: /\$\{PORTICO_API_KEY\}/ }
  })

/** `.vscode/mcp.json`: https://code.visualstudio.com/docs/copilot/reference/mcp-configuration */
const visualStudioCode = z
  .strictObject({
    inputs: z.tuple([
      z.strictObject({
        type: z.literal('promptString'),
        id: z.string(),
        description: z.string(),
        password: z.literal(true),
      }),
    ]),
    servers: z.strictObject({ handbook: z.strictObject({ type: z.literal('http'), url: address, headers }) }),
  })
  .transform(({ inputs: [{ id }], servers: { handbook } }): Connection => ({
    ...handbook,
    placeholder: new RegExp(`\\$\\{input:${id}\\}`),
  }))

/** `.cursor/mcp.json`: https://cursor.com/docs/mcp.md */
const cursor = z
  .strictObject({ mcpServers: z.strictObject({ handbook: z.strictObject({ url: address, headers }) }) })
  .transform(({ mcpServers: { handbook } }): Connection => ({ ...handbook, placeholder: /\$\{env:PORTICO_API_KEY\}/ }))

/** The configurations of each page, in their order. */
const readers = {
  'mcp-claude.md': [claudeCode, claudeDesktop],
  'mcp-cursor.md': [cursor],
  'mcp-visual-studio-code.md': [visualStudioCode],
}

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, { name: 'Handbook' })
  await uploadReady(organisation, space.id, '# Leave\n\nEmployees have 30 days of annual leave.', 'leave.md')
})
afterAll(() => portico?.stop())

const blocksOf = (page: string, language: string) =>
  [
    ...readFileSync(path.join(folder, page), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm')),
  ].map(([, block]) => block!)

async function expectAnswer(url: string, sent: Record<string, string>) {
  const client = new Client({ name: 'documented', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: sent } }))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('ask')
  const question = 'How many days of annual leave do employees have?'
  const { content } = await client.callTool({ name: 'ask', arguments: { question } })
  expect((content as { text: string }[])[0]!.text).toMatch(/30 days[^]*Sources:\n\[1\] leave\.md/)
  await client.close()
}

const expand = ({ url, headers: named, placeholder }: Connection) => ({
  url: url.replace('https://portico.example.com', portico.url).replace('ENDPOINT_ID', space.endpointId),
  headers: Object.fromEntries(
    Object.entries(named).map(([name, value]) => {
      expect(value).toMatch(placeholder)
      return [name, value.replace(placeholder, organisation.apiKey)]
    }),
  ),
})

it('has a page for each client, and mcp.md leads to it', () => {
  const pages = readdirSync(folder).filter((name) => name.startsWith('mcp-'))
  expect(pages.toSorted()).toEqual(Object.keys(readers))
  const overview = readFileSync(path.join(folder, 'mcp.md'), 'utf8')
  const index = readFileSync(path.join(folder, 'README.md'), 'utf8')
  for (const page of pages) {
    expect(overview).toContain(`(${page})`)
    expect(index).toContain(`(${page})`)
  }
})

for (const [page, schemas] of Object.entries(readers)) {
  it(`connects with the configurations of ${page}`, async () => {
    const blocks = blocksOf(page, 'json')
    expect(blocks).toHaveLength(schemas.length)
    for (const [index, schema] of schemas.entries()) {
      const { url, headers: sent } = expand(schema.parse(JSON.parse(blocks[index]!)))
      await expectAnswer(url, sent)
    }
  })
}

it('connects with the address and the header that the command of Claude Code receives', async () => {
  const command = blocksOf('mcp-claude.md', 'text').find((block) => block.startsWith('claude mcp add'))!
  const received = await argumentsOf(command)
  const [url, header] = z
    .tuple([
      z.literal('mcp'),
      z.literal('add'),
      z.literal('--transport'),
      z.literal('http'),
      z.literal('handbook'),
      z.string(),
      z.literal('--header'),
      z.string(),
    ])
    .transform(([, , , , , to, , with_]) => [to, with_] as const)
    .parse(received)
  const [, name, value] = /^([\w-]+): (.+)$/.exec(header)!
  await expectAnswer(url, { [name!]: value! })
})

/** What a shell passes to `claude`. A program with this name prints its arguments. */
async function argumentsOf(command: string): Promise<string[]> {
  const programs = mkdtempSync(path.join(tmpdir(), 'portico-claude-'))
  try {
    const program = path.join(programs, 'claude')
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@"\n`)
    chmodSync(program, 0o755)
    const env = {
      PATH: `${programs}:${process.env['PATH']}`,
      PORTICO_URL: portico.url,
      PORTICO_ENDPOINT_ID: space.endpointId,
      PORTICO_API_KEY: organisation.apiKey,
    }
    const { stdout } = await promisify(execFile)('sh', ['-euc', command], { env })
    return stdout.trimEnd().split('\n')
  } finally {
    await removeFolder(programs)
  }
}
