import { SseParser } from '../../src/platform/kernel/index.ts'
import { readToolRequest, scriptedTurn, type ToolRequest } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'
import { uploadReady } from './museum.ts'
import { type StartOptions, startPortico, type TestOrganisation, type TestPortico, type TestSpace } from './portico.ts'

/** A running Portico whose model and embeddings are a scripted host. */
export interface ScriptedStage {
  portico: TestPortico
  upstream: Upstream
  /** What the model does in each call. */
  play(script: (request: ToolRequest) => UpstreamReply | Promise<UpstreamReply>): void
  /** What the host does with the next query to embed; later ones are embedded. */
  playEmbedding(reply: UpstreamReply): void
  /** The calls of the model since the last `play`. */
  calls(): readonly ToolRequest[]
  upload(organisation: TestOrganisation, space: TestSpace, text: string, name: string): Promise<string>
  openChat(organisation: TestOrganisation, space: TestSpace, options?: ChatOptions): Promise<OpenChat>
  stop(): Promise<void>
}

export interface ChatOptions {
  messages?: { role: string; content: string }[]
  headers?: Record<string, string>
}

export interface ChatEvent {
  event: string
  // Events of many shapes; each test asserts the one that it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

/** A streamed answer that the test reads step by step. */
export interface OpenChat {
  response: Response
  requestId: string
  /** Reads until an event of this name has arrived. */
  until(name: string): Promise<void>
  /** Everything, from the beginning. */
  all(): Promise<ChatEvent[]>
  /** Closes the connection. */
  leave(): void
}

export const inline = { 'service-enable-inline-sources': 'true' }
export const agentic = { ...inline, 'service-enable-agentic-workflow': 'true' }

/** Prices of every scripted model, dollars per million tokens. */
const prices = { input: '1', output: '2' }

/** Models `m` (1,000 output tokens), `long` (8,000) and `embedder`; `models` replaces `m`. `limits`: of the host. */
export async function startScriptedStage({
  models = ['m'],
  limits = {},
  ...options
}: StartOptions & { models?: string[]; limits?: object } = {}): Promise<ScriptedStage> {
  let script: Parameters<ScriptedStage['play']>[0] = () => scriptedTurn('Yes.')
  let nextEmbedding: UpstreamReply | undefined
  let calls: ToolRequest[] = []
  const upstream = await startUpstream(({ path, body }) => {
    if (path.endsWith('/embeddings')) {
      const reply = nextEmbedding
      nextEmbedding = undefined
      return reply ?? embed(body)
    }
    const request = readToolRequest(body)
    calls.push(request)
    return script(request)
  })
  const deployments = [{ provider: 'p', prices }]
  const portico = await startPortico({
    ...options,
    settings: {
      ollama: { detect: false },
      embeddings: { kind: 'provider', model: 'embedder' },
      providers: [
        {
          id: 'p',
          flavour: 'generic',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'sk',
          hosting: 'us',
          models: 'declared',
          limits,
        },
      ],
      models: [
        ...models.map((id) => ({ id, maxOutputTokens: 1_000, contextTokens: 200_000, deployments })),
        { id: 'long', maxOutputTokens: 8_000, contextTokens: 200_000, deployments },
        { id: 'embedder', kind: 'embedding', dimensions: 16, contextTokens: 8_192, deployments },
      ],
      ...options.settings,
    },
  })
  return {
    portico,
    upstream,
    play(next) {
      script = next
      calls = []
    },
    playEmbedding: (reply) => void (nextEmbedding = reply),
    calls: () => calls,
    async upload(organisation, space, text, name) {
      return uploadReady(organisation, space.id, text, name)
    },
    openChat: (organisation, space, chat) => openChat(portico.url, organisation, space, chat),
    async stop() {
      await portico.stop()
      await upstream.close()
    },
  }
}

export const question = [{ role: 'user', content: 'What do tickets cost at the museum?' }]

async function openChat(
  url: string,
  { apiKey }: TestOrganisation,
  { endpointId }: TestSpace,
  { messages = question, headers = {} }: ChatOptions = {},
): Promise<OpenChat> {
  const client = new AbortController()
  const response = await fetch(`${url}/v1/endpoints/${endpointId}/chat`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages, streaming: true }),
    signal: client.signal,
  })
  const parser = new SseParser({ maximumEventBytes: 10_000_000 })
  const reader = response.body!.getReader()
  const events: ChatEvent[] = []
  let isOver = false
  async function read() {
    const { done, value } = await reader.read()
    isOver = done
    const parsed = done ? parser.end() : parser.push(value)
    for (const { event, data } of parsed) events.push({ event, data: JSON.parse(data) })
  }
  return {
    response,
    requestId: response.headers.get('x-request-id')!,
    async until(name) {
      while (!isOver && !events.some(({ event }) => event === name)) await read()
      if (isOver) throw new Error(`the stream ended without ${name}: ${JSON.stringify(events)}`)
    },
    async all() {
      while (!isOver) await read()
      return events
    },
    leave: () => client.abort(),
  }
}

/** Vectors that depend on the lengths of the texts only. */
function embed(body: string): UpstreamReply {
  const { input } = JSON.parse(body) as { input: string[] }
  const data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 16 }, (_, dimension) => Math.sin(text.length + dimension)),
  }))
  const usage = { prompt_tokens: input.length, total_tokens: input.length }
  const answer = { object: 'list', data, model: 'embedder', usage }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
}
