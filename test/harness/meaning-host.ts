import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** Words that mean the same; one dimension for each. */
const meanings = [/arzt|doctor|physician/i, /auto|car\b|automobile/i, /hund|dog|hound/i]

/** A host whose embedding model knows synonyms. */
export interface MeaningHost {
  upstream: Upstream
  /** Providers and models of the configuration: `embedder`, at 2 dollars per million tokens. */
  settings: Record<string, unknown>
  /** Its answers wait for it. */
  gate: Promise<unknown>
  stop(): Promise<void>
}

export async function startMeaningHost(): Promise<MeaningHost> {
  const upstream = await startUpstream(async ({ body }) => {
    await host.gate
    return embed(body)
  })
  const deployments = [{ provider: 'p', prices: { input: '2', output: '0' } }]
  const provider = { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us' }
  const host: MeaningHost = {
    upstream,
    settings: {
      ollama: { detect: false },
      providers: [{ ...provider, models: 'declared' }],
      models: [{ id: 'embedder', kind: 'embedding', dimensions: 4, contextTokens: 8_192, deployments }],
    },
    gate: Promise.resolve(),
    stop: () => upstream.close(),
  }
  return host
}

function embed(body: string): UpstreamReply {
  const { input } = JSON.parse(body) as { input: string[] }
  const data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: [...meanings.map((words) => (words.test(text) ? 1 : 0)), 0.1],
  }))
  const usage = { prompt_tokens: input.length * 10, total_tokens: input.length * 10 }
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ object: 'list', data, model: 'embedder', usage }),
  }
}
