import { chatAnswer, chatStreamBody, errorAnswer, rateLimited } from '../../upstream/replies.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../../upstream/upstream.ts'

/** A call and the provider's answer to it; both sides find the plan by the number in the prompt. */
export interface PlannedCall {
  number: number
  stream: boolean
  /** Length of the whole answer. */
  words: number
  headersAfterMs: number
  /** Pause between two words of a stream. */
  pauseMs: number
  promptTokens: number
  /** False: the provider sends no usage, so Portico counts. */
  sendsUsage: boolean
  /** Null: without a cap. */
  capTokens: number | null
  /** The client disconnects after this many words. */
  hangUpAfterWords: number | null
}

/** A plain call with a short answer and no pause. */
export const quickCall: Omit<PlannedCall, 'number'> = {
  stream: false,
  words: 5,
  headersAfterMs: 0,
  pauseMs: 0,
  promptTokens: 8,
  sendsUsage: true,
  capTokens: 128,
  hangUpAfterWords: null,
}

/** What the provider sent, or would have sent to a client that reads to the end. */
export interface SentAnswer {
  words: number
  promptTokens: number
  sendsUsage: boolean
  /** The provider has ended the answer in the middle. */
  breaksOff: boolean
}

/** Ways in which the provider fails a call: 429, 500, no answer at all, or half of one. */
export type ProviderFault = 'rate_limit' | 'error' | 'silence' | 'half'

export interface PlannedProvider {
  upstream: Upstream
  /** By the number of the call; undefined when the call has never reached the provider. */
  sent(number: number): SentAnswer | undefined
  planned(call: PlannedCall): PlannedCall
  /** Later calls fail as `draw` decides; undefined: as planned. */
  storm(draw: () => ProviderFault | undefined): void
}

/** Every word has the same length, so that text converts to words and back. */
const word = 'seventy '
export const wordCharacters = word.length
/** Tokens of a word, as the provider counts and as Portico estimates without usage. */
export const tokensPerWord = 2
const cuttable = /\n\n/g

export const promptOf = (call: PlannedCall) => [
  { role: 'user', content: `Call #${call.number}: write about seventy words, please.` },
]

/** A provider in the compatible format that answers each call as planned, within the cap of the request. */
export async function startPlannedProvider(): Promise<PlannedProvider> {
  const plans = new Map<number, PlannedCall>()
  const answers = new Map<number, SentAnswer>()
  let drawFault: () => ProviderFault | undefined = () => undefined
  const upstream = await startUpstream(({ body }) => {
    const request = JSON.parse(body) as { stream?: boolean; max_tokens?: number; max_completion_tokens?: number }
    const number = Number(/Call #(\d+):/.exec(body)?.[1])
    const plan = plans.get(number)
    if (!plan) throw new Error(`no plan for ${body}`)
    const capTokens = request.max_completion_tokens ?? request.max_tokens ?? Infinity
    const words = Math.min(plan.words, Math.floor(capTokens / tokensPerWord))
    const fault = drawFault()
    if (fault === 'rate_limit') return rateLimited('none', 0)
    if (fault === 'error') return errorAnswer(500)
    if (fault === 'silence') return { headersAfterMs: 'never' }
    const breaksOff = fault === 'half'
    const sent = breaksOff ? Math.floor(words / 2) : words
    answers.set(number, { words: sent, promptTokens: plan.promptTokens, sendsUsage: plan.sendsUsage, breaksOff })
    const reply = replyTo(plan, words)
    return breaksOff ? { ...reply, endAfterBytes: bytesOfHalf(plan, String(reply.body), sent) } : reply
  })
  return {
    upstream,
    sent: (number) => answers.get(number),
    planned(call) {
      plans.set(call.number, call)
      return call
    },
    storm(draw) {
      drawFault = draw
    },
  }
}

/** Of a stream: up to the end of its last sent word, behind the event with the role. */
function bytesOfHalf(plan: PlannedCall, body: string, words: number): number {
  return plan.stream ? [...body.matchAll(cuttable)][words]!.index + 2 : Math.floor(body.length / 2)
}

function replyTo(plan: PlannedCall, words: number): UpstreamReply {
  const options = {
    finishReason: words < plan.words ? 'length' : 'stop',
    usage: plan.sendsUsage ? { prompt_tokens: plan.promptTokens, completion_tokens: words * tokensPerWord } : null,
  }
  if (!plan.stream) return { ...chatAnswer(word.repeat(words), options), headersAfterMs: plan.headersAfterMs }
  const body = chatStreamBody(
    Array.from({ length: words }, () => word),
    options,
  )
  return {
    headers: { 'content-type': 'text/event-stream' },
    body,
    cuts: plan.pauseMs === 0 ? [] : [...body.matchAll(cuttable)].map(({ index }) => index + 2),
    headersAfterMs: plan.headersAfterMs,
    ...(plan.pauseMs === 0 ? {} : { pauseBetweenWritesMs: plan.pauseMs }),
  }
}

/** Portico's configuration with only this provider; starts fast. */
export function providerSettings(provider: PlannedProvider) {
  return {
    metrics: { enabled: false },
    ollama: { detect: false },
    ingestion: { workers: 0 },
    providers: [
      {
        id: 'planned',
        format: 'openai',
        flavour: 'generic',
        baseUrl: `${provider.upstream.url}/v1`,
        apiKey: 'sk-planned',
        hosting: 'us',
        limits: { maximumConnections: 1_000 },
      },
    ],
    models: [
      {
        id: plannedModel,
        tier: 'base',
        contextTokens: 128_000,
        maxOutputTokens: 16_384,
        deployments: [{ provider: 'planned', prices: { input: '2.5', output: '10' } }],
      },
    ],
  }
}

export const plannedModel = 'planned-model'
