import { answerCall, type Call, headerList, rateLimitHeaders } from '../../platform/http/index.ts'
import type { BodyReader } from '../../platform/bodies/index.ts'
import type { RateLimitState } from '../../platform/kernel/index.ts'
import type { Receipt } from '../billing/index.ts'
import { assertGatewayAccess } from '../../tenants/organisations/index.ts'
import type { ClientCall, EmbeddingCall } from '../gateway/index.ts'

/** What embeddings and rerankings have in common. */
export type MeteredClientCall = Pick<EmbeddingCall, 'organisation' | 'spaceId' | 'signal'> & { client: ClientCall }

interface MeteredAnswer {
  json: string
  receipt: Receipt
  rate: RateLimitState | null
  adjusted: string[]
}

interface MeteredBody {
  user: string | undefined
  ignored: string[]
}

/** The parts of a route whose calls are complete when the provider answers: gate, limits, body, call, headers, answer. */
export function meteredRoute<Body extends MeteredBody>(
  body: BodyReader<Body>,
  answer: (call: MeteredClientCall, body: Body) => Promise<MeteredAnswer>,
) {
  const handle = async (call: Call): Promise<void> => {
    const { requestId, organisation, signal } = call
    const read = call.body as Body
    if (read.ignored.length > 0) call.header('x-ignored-params', headerList(read.ignored))
    const client = { requestId, user: read.user }
    const { json, receipt, rate, adjusted } = await answer({ organisation, spaceId: null, client, signal }, read)
    call.header('x-portico-deployment', receipt.deploymentId ?? '')
    call.header('x-portico-hosting', receipt.hosting ?? '')
    if (rate) for (const [name, value] of Object.entries(rateLimitHeaders(rate))) call.header(name, value)
    if (adjusted.length > 0) call.header('x-adjusted-params', headerList(adjusted))
    call.sendJson(json)
  }
  return {
    handler: answerCall(handle),
    config: { limited: 'call', body, access: assertGatewayAccess } as const,
  }
}
