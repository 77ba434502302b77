import { messageAnswer, messageStream } from '../upstream/messages-replies.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'
import { startPortico, type TestOrganisation, type TestPortico } from './portico.ts'

type Json = Record<string, unknown>

/** What a scripted model answers: text, and calls of tools. */
export interface Script {
  text?: string
  thinking?: string
  call?: { id: string; name: string; input: Json }
}

/** The gateway in front of a host of the Messages API (`claude`) and one of the compatible API (`gpt`), which answer alike. */
export interface MessagesStage {
  portico: TestPortico
  organisation: TestOrganisation
  /** For SDKs: `ANTHROPIC_BASE_URL`. */
  baseURL: string
  upstream: Upstream
  /** Decides the answer by the body that the host receives. */
  answer(next: (body: Json) => Script): void
  stop(): Promise<void>
}

export const promptCounted = 42

const prices = { input: '1', output: '10', cacheRead: '0.1', cacheWrite: '1.25' }

export async function startMessagesStage(): Promise<MessagesStage> {
  let answer: (body: Json) => Script = () => ({ text: 'Hello.' })
  const upstream = await startUpstream((request) => reply(request, answer(JSON.parse(request.body || '{}') as Json)))
  const provider = (id: string, format: string, flavour?: string) => ({
    id,
    format,
    ...(flavour && { flavour }),
    baseUrl: upstream.url,
    apiKey: 'sk-test',
    hosting: 'us',
    models: 'declared',
  })
  const model = (id: string, of: string, wireId: string) => ({
    id,
    aliases: [`${id}-alias`],
    deployments: [{ provider: of, wireId, prices }],
  })
  const portico = await startPortico({
    settings: {
      providers: [provider('anthropic', 'anthropic'), provider('openai', 'openai', 'openai')],
      models: [model('claude', 'anthropic', 'claude-sonnet-4-5'), model('gpt', 'openai', 'gpt-4.1')],
      ollama: { detect: false },
    },
  })
  const organisation = await portico.createOrganisation()
  return {
    portico,
    organisation,
    baseURL: `${portico.url}/v2/gateway/anthropic`,
    upstream,
    answer: (next) => void (answer = next),
    async stop() {
      await portico.stop()
      await upstream.close()
    },
  }
}

function reply({ path, body }: UpstreamRequest, script: Script): UpstreamReply {
  const stream = (JSON.parse(body || '{}') as Json).stream === true
  if (path.endsWith('/count_tokens')) {
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ input_tokens: promptCounted }) }
  }
  if (path.endsWith('/messages')) {
    const content = toBlocks(script)
    const options = { stopReason: script.call ? 'tool_use' : 'end_turn' }
    return stream ? messageStream(content, options) : messageAnswer(content, options)
  }
  return stream ? completionStream(script) : completion(script)
}

function toBlocks({ thinking, text, call }: Script): Json[] {
  return [
    ...(thinking ? [{ type: 'thinking', thinking, signature: 'signed-by-claude' }] : []),
    ...(text ? [{ type: 'text', text }] : []),
    ...(call ? [{ type: 'tool_use', ...call }] : []),
  ]
}

const chatUsage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

function toMessage({ thinking, text, call }: Script): Json {
  const { id, name, input } = call ?? {}
  return {
    role: 'assistant',
    content: text ?? null,
    ...(thinking && { reasoning_content: thinking }),
    ...(call && {
      tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
    }),
  }
}

function completion(script: Script): UpstreamReply {
  const choice = { index: 0, message: toMessage(script), finish_reason: script.call ? 'tool_calls' : 'stop' }
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices: [choice], usage: chatUsage }),
  }
}

function completionStream(script: Script): UpstreamReply {
  const chunk = (fields: Json) => ({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...fields })
  const chunks = [
    chunk({ choices: [{ index: 0, delta: toMessage(script), finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: script.call ? 'tool_calls' : 'stop' }] }),
    chunk({ choices: [], usage: chatUsage }),
  ]
  const lines = chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`)
  return { headers: { 'content-type': 'text/event-stream' }, body: `${lines.join('')}data: [DONE]\n\n` }
}
