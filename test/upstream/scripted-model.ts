import type { UpstreamReply } from './upstream.ts'

/** A model of an OpenAI-compatible host that follows a plan of tool calls. */

/** What the model does in one turn: calls of tools, or its answer. */
export type ScriptedTurn = string | readonly { name: string; args: object }[]

/** A request as the model received it. */
export interface ToolRequest {
  toolNames: string[]
  toolChoice: string | undefined
  /** The call rewrites a question instead of answering it. */
  isRewriting: boolean
  /** The last message of the user, with the passages. */
  prompt: string
  /** Turns of the model with calls of tools so far. */
  round: number
  /** Results of all tools so far, in order. */
  results: string[]
}

export function readToolRequest(body: string): ToolRequest {
  const request = JSON.parse(body) as {
    messages: { role: string; content: string | null; tool_calls?: unknown[] }[]
    tools?: { function: { name: string } }[]
    tool_choice?: string
  }
  const contents = (role: string) =>
    request.messages.filter((message) => message.role === role).map(({ content }) => content ?? '')
  return {
    toolNames: (request.tools ?? []).map((tool) => tool.function.name),
    toolChoice: request.tool_choice,
    isRewriting: contents('system')[0]?.startsWith('You prepare search queries.') ?? false,
    prompt: contents('user').at(-1) ?? '',
    round: request.messages.filter((message) => message.tool_calls !== undefined).length,
    results: contents('tool'),
  }
}

/** The turn as a stream, with the usage that the host reports; arguments arrive in two pieces. */
export function scriptedTurn(turn: ScriptedTurn, promptTokens = 90, completionTokens = 30): UpstreamReply {
  const deltas =
    typeof turn === 'string'
      ? [{ content: turn }]
      : turn.flatMap(({ name, args }, index) => {
          const json = JSON.stringify(args)
          const half = Math.floor(json.length / 2)
          return [
            {
              tool_calls: [
                { index, id: `call_${index}`, type: 'function', function: { name, arguments: json.slice(0, half) } },
              ],
            },
            { tool_calls: [{ index, function: { arguments: json.slice(half) } }] },
          ]
        })
  const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    {
      ...head,
      choices: [{ index: 0, delta: {}, finish_reason: typeof turn === 'string' ? 'stop' : 'tool_calls' }],
    },
    {
      ...head,
      choices: [],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
      },
    },
  ]
  return {
    headers: { 'content-type': 'text/event-stream' },
    body: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(''),
  }
}
