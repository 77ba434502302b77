import type { Hold, Ledger, Receipt } from '../../src/gateway/billing/index.ts'
import { version2Routes, type Version2Dependencies } from '../../src/gateway/apis/index.ts'
import { createCompletions, gatewayRoutes } from '../../src/gateway/gateway/index.ts'
import { createMetrics, createServer } from '../../src/platform/http/index.ts'
import { createOrganisationId, createPseudonyms, silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import type { Deployment, LiveCatalogue, ResolvedModel } from '../../src/gateway/models/index.ts'
import {
  assertGatewayAccess,
  createOrganisationLimiter,
  makeOrganisation,
} from '../../src/tenants/organisations/index.ts'
import { createProvider } from '../../src/gateway/providers/index.ts'
import { createRouter } from '../../src/gateway/routing/index.ts'
import { createTokenCounting } from '../../src/gateway/tokens/index.ts'
import { waitingConnections } from './waiting-connections.ts'

/** The gateway as it is, with a ledger that records nothing and a catalogue of one model: what a call costs without accounting. */
export async function startUnmetered(upstreamUrl: string): Promise<string> {
  const log = silentLog
  const clock = systemClock
  const organisation = makeOrganisation(
    createOrganisationId(),
    {
      name: 'Bench',
      plan: 'enterprise',
      gatewayEnabled: true,
      gatewayOptIn: true,
      limits: { concurrentCalls: 10_000 },
    },
    clock.now(),
  )
  const metrics = createMetrics()
  const limiter = createOrganisationLimiter({ clock })
  const catalogue = oneModel(upstreamUrl)
  const tokens = createTokenCounting({ log })
  const completions = createCompletions({
    catalogue,
    router: createRouter({ clock, random: Math.random, log }),
    ledger: unmeteredLedger(),
    tokens,
    pseudonyms: createPseudonyms('b'.repeat(32)),
    limiter,
    clock,
    log,
  })
  const routed = { completions, catalogue, tokens, clock, log }
  const app = createServer({
    authenticators: {
      organisations: { authenticate: () => organisation, get: () => organisation },
      operatorTokens: { authenticate: () => false },
      people: { authenticate: async () => undefined },
    },
    limiter,
    assertGatewayAccess,
    metrics,
    log,
    maximumJsonBytes: 33 * 1024 * 1024,
    maximumJsonBytesInFlight: 256 * 1024 * 1024,
    stalledClientMs: 60_000,
    stop: { isStopping: false, isRefusing: false },
    publicUrl: undefined,
    version: 'bench',
    // Only chat completions are called.
    routes: [gatewayRoutes(routed), version2Routes(routed as unknown as Version2Dependencies)],
  })
  return app.listen({ port: 0, host: '127.0.0.1', backlog: waitingConnections })
}

function oneModel(upstreamUrl: string): LiveCatalogue {
  const provider = createProvider({
    id: 'bench',
    format: 'openai',
    baseUrl: `${upstreamUrl}/v1`,
    apiKey: 'sk-bench',
    limits: { maximumConnections: 20_000 },
  })
  const deployment: Deployment = {
    id: 'bench/bench-model',
    providerId: 'bench',
    wire: {
      id: 'bench-model',
      baseModel: 'bench-model',
      acceptsTemperature: true,
      reasoning: false,
      maxOutputTokens: 4096,
    },
    hosting: 'us',
    side: 'other',
    region: null,
    weight: 1,
    prices: [],
  }
  const resolved = {
    model: { id: 'bench-model', kind: 'chat', contextTokens: 128_000, maxOutputTokens: 4096 } as ResolvedModel['model'],
    eu: false,
  }
  return {
    resolve: () => ({ ...resolved, deployments: [deployment] }),
    capable: () => [deployment],
    provider: () => provider,
  } as unknown as LiveCatalogue
}

function unmeteredLedger(): Ledger {
  const durable = Promise.resolve()
  const receipt = { ending: 'completed' } as Receipt
  return {
    holdAtOnce: ({ requestId, outputCapTokens }: Parameters<Ledger['hold']>[0]): Hold => ({
      requestId,
      durable,
      makeDurable: () => durable,
      outputCapTokens,
      capReduced: false,
      grant: () => true,
      settle: async () => receipt,
    }),
    noteRefused() {},
  } as unknown as Ledger
}
