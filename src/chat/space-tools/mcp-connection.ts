import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { spaceToolLimits, type StoredTool, type ToolCredential } from '../../contract/space-tools.ts'
import { isObject, version } from '../../platform/kernel/index.ts'
import { cleanText } from './bounded-body.ts'
import { headersOf, withoutSecret } from './credential.ts'
import { readSchema } from './read-schema.ts'
import { toAnswer, toProblem } from './tool-answer.ts'
import type { ReadTools, ToolAnswer } from './tool-server.ts'

/** A server of the Model Context Protocol as a client sees it (https://modelcontextprotocol.io/specification), with Streamable HTTP only. */

export interface McpPlace {
  url: string
  credential: ToolCredential | null
  fetch: typeof fetch
}

/** Bounds of one connection, from its beginning to its end. */
const connectionLimits = {
  /** Bytes of all responses: a listing is longer than the result of a tool. */
  listBytes: 1024 * 1024,
  callBytes: 256 * 1024,
  /** Bytes that are read before the event loop gets a turn: each may have an event of some ten bytes, which takes 0.1 ms. */
  turnBytes: 1024,
  requests: 30,
  pages: 20,
} as const

/** Reads the tools of a server. Rejects where it does not answer as a server of the protocol does. */
export function listMcpTools(place: McpPlace, signal: AbortSignal): Promise<ReadTools> {
  return connect(place, connectionLimits.listBytes, signal, async (client) => {
    const tools: StoredTool[] = []
    const names = new Set<string>()
    let cursor: string | undefined
    let isComplete = true
    let characters = 0
    for (let page = 0; ; page++) {
      const params = cursor === undefined ? {} : { cursor }
      // The tools are read one by one: one that is not valid does not hide the others.
      const listed = await client.request({ method: 'tools/list', params }, pageSchema, { signal })
      for (const [index, given] of listed.tools.entries()) {
        if (index % 20 === 0) await nextTurn()
        const tool = readTool(given, place.credential)
        if (!tool || names.has(tool.name)) continue
        characters += JSON.stringify(tool).length
        if (tools.length >= spaceToolLimits.toolsPerServer || characters > spaceToolLimits.serverCharacters) {
          isComplete = false
          break
        }
        names.add(tool.name)
        tools.push(tool)
      }
      cursor = listed.nextCursor
      if (cursor === undefined || !isComplete) break
      if (page + 1 >= connectionLimits.pages) isComplete = false
      if (!isComplete) break
    }
    const title = cleanText(client.getServerVersion()?.name ?? '').slice(0, 200)
    return { title: withoutSecret(title, place.credential) || null, url: null, tools, isComplete }
  })
}

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().max(4_000).optional() })

/** Calls a tool. Rejects where the server does not answer as the protocol requires. */
export function callMcpTool(
  place: McpPlace,
  tool: StoredTool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  return connect(place, connectionLimits.callBytes, signal, async (client) => {
    const params = { name: tool.name, arguments: given }
    const result = await client.request({ method: 'tools/call', params }, resultSchema, { signal })
    const text = textOf(result)
    return result.isError === true
      ? toProblem('The tool reports an error.', text, place.credential)
      : toAnswer(text, false, place.credential)
  })
}

const resultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})

function textOf({ content = [], structuredContent }: z.output<typeof resultSchema>): string {
  const parts = content.filter(isObject).map((part) => {
    if (part['type'] === 'text' && typeof part['text'] === 'string') return part['text']
    const { resource } = part
    if (part['type'] === 'resource' && isObject(resource) && typeof resource['text'] === 'string')
      return resource['text']
    return part['type'] === 'resource_link' && typeof part['uri'] === 'string' ? part['uri'] : ''
  })
  const text = parts.filter((part) => part !== '').join('\n')
  return text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text
}

/** Hints of a server are its own claims: the editor decides which tools are allowed. */
function readTool(given: unknown, credential: ToolCredential | null): StoredTool | undefined {
  if (!isObject(given)) return undefined
  const { name, description, title, inputSchema, annotations } = given
  if (typeof name !== 'string' || name === '' || name.length > spaceToolLimits.toolName) return undefined
  // It is sent back as it is.
  if (cleanText(name) !== name || withoutSecret(name, credential) !== name) return undefined
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : ''
  const schema = readSchema(inputSchema, inputSchema)
  const cleaned = schema && withoutSecret(JSON.stringify(schema), credential)
  return {
    name,
    description: withoutSecret(cleanText(text), credential).slice(0, spaceToolLimits.description).toWellFormed(),
    parameters: cleaned === undefined ? { type: 'object' } : { ...(JSON.parse(cleaned) as object), type: 'object' },
    changesData: !(isObject(annotations) && annotations['readOnlyHint'] === true),
    problem: cleaned === undefined ? 'too_large' : null,
  }
}

async function connect<T>(
  { url, credential, fetch }: McpPlace,
  maximumBytes: number,
  signal: AbortSignal,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  // Loaded at the first use: the library takes megabytes.
  const { Client: McpClient, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const closed = new AbortController()
  const failed = Promise.withResolvers<never>()
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(fetch, { maximumBytes, signal: AbortSignal.any([signal, closed.signal]), fail: failed.reject }),
    requestInit: { headers: headersOf(credential), redirect: 'error' },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  })
  // Without capabilities: the server can ask this client for nothing. A schema of a server is never compiled.
  const client = new McpClient(
    { name: 'portico', version },
    { capabilities: {}, versionNegotiation: { mode: 'auto' }, jsonSchemaValidator: acceptAll },
  )
  // The library waits on after a stream has failed.
  Object.assign(client, { onerror: failed.reject })
  const abort = () => failed.reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    const used = (async () => {
      await client.connect(transport, { signal })
      return use(client)
    })()
    used.catch(() => {})
    return await Promise.race([used, failed.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    failed.promise.catch(() => {})
    // A session of the server ends without waiting for it.
    void endSession(transport).finally(() => {
      closed.abort()
      void client.close().catch(() => {})
    })
  }
}

const acceptAll = {
  getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }),
}

/** Longest time for the end of a session. */
const endMs = 2_000

async function endSession(transport: { sessionId?: string | undefined; terminateSession(): Promise<void> }) {
  if (transport.sessionId === undefined) return
  const ended = transport.terminateSession().catch(() => {})
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, endMs).unref())])
}

/** `fetch` for one connection: all its responses together have a bound, and so has their number. */
function boundedFetch(
  fetch: McpPlace['fetch'],
  { maximumBytes, signal, fail }: { maximumBytes: number; signal: AbortSignal; fail: (error: Error) => void },
): typeof fetch {
  let bytes = 0
  let requests = 0
  return async (address, init = {}) => {
    // A stream of notifications, which nothing here uses. Servers need not have one.
    if (init.method === 'GET') return new Response(null, { status: 405 })
    if (++requests > connectionLimits.requests) throw new Error('the server needs too many requests')
    const { headers, ...rest } = init
    const response = await fetch(String(address), {
      ...rest,
      headers: Object.fromEntries(new Headers(headers)),
      signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal,
    })
    const count = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        bytes += chunk.length
        if (bytes > maximumBytes) {
          const error = new Error('the server sends too much')
          controller.error(error)
          return fail(error)
        }
        for (let at = 0; at < chunk.length; at += connectionLimits.turnBytes) {
          if (at > 0) await nextTurn()
          controller.enqueue(chunk.subarray(at, at + connectionLimits.turnBytes))
        }
      },
    })
    const { status, statusText } = response
    const hasBody = response.body !== null && status !== 204 && status !== 205 && status !== 304
    return new Response(hasBody ? response.body!.pipeThrough(count) : null, {
      status,
      statusText,
      headers: Object.fromEntries(response.headers),
    })
  }
}
