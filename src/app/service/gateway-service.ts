import type { ServiceOptions } from './service.ts'
import { gatewayRoutes, otherEndpointRoutes } from '../../gateway/gateway/index.ts'
import { operationsRoutes } from '../../platform/http/index.ts'
import { systemClock } from '../../platform/kernel/index.ts'
import { openAccess } from './access.ts'
import { describeStart } from './describe-start.ts'
import { openFoundation, type PartContext } from './foundation.ts'
import { openGateway } from './gateway.ts'
import { describeInstance } from './instance-facts.ts'
import { openModels } from './models.ts'
import { createReadiness } from './readiness.ts'
import { createScrape } from './scrape.ts'
import { openServer } from './server.ts'
import { type ControlStorage, openControlStorage } from './storage.ts'

/**
 * The service of a process with the role `gateway`: the same parts as in src/app/service/service.ts without everything that concerns documents. It
 * neither loads their modules nor opens the corpus database.
 */
export async function createGatewayService({
  config,
  log,
  clock = systemClock,
  instanceExpiryMs,
  storage,
}: Omit<ServiceOptions, 'storage'> & { storage?: Promise<ControlStorage> | undefined }) {
  await using building = new AsyncDisposableStack()
  const onStop = (close: () => unknown) => building.defer(async () => void (await close()))
  let stopping = false
  const opening = await (storage ?? openControlStorage({ config, log, clock }))
  const { control, server } = await openParts(
    { config, log: opening.log, clock, instanceExpiryMs, onStop },
    opening,
    () => stopping,
  )
  const opened = building.move()

  return {
    config,

    /** Listens. */
    async start(): Promise<{ url: string; metricsUrl: string | undefined }> {
      await server.listen()
      performance.mark('listening')
      return { url: server.url(), metricsUrl: server.metricsUrl() }
    },

    /** The lines that a start prints. */
    describe: () => describeStart(config, control, server, []),

    /** Requests are served for `shutdownDelayMs` unless the stop is urgent, streams finish within the grace period. Idempotent. */
    async stop({ isUrgent = false } = {}): Promise<void> {
      if (stopping) return
      stopping = true
      if (!isUrgent) await server.drain()
      await server.close()
      await server.closeMetrics()
      await opened.disposeAsync()
    },
  }
}

async function openParts(context: PartContext, storage: ControlStorage, isStopping: () => boolean) {
  const { config, clock, log } = context
  const foundation = await openFoundation(storage, context)
  const { control, changeFeed, metrics, telemetry, tokens, secretBox, pseudonyms, accountSecrets } = foundation
  const { organisations, operatorTokens, accounts, limiter } = await openAccess({
    control,
    changeFeed,
    secretBox,
    accountSecrets,
    ...context,
  })
  const models = await openModels({ control, changeFeed, organisations, secretBox, metrics, tokens, ...context })
  const { catalogue, router } = models
  const facts = await describeInstance(config)
  const called = { control, organisations, catalogue, router, metrics, telemetry, tokens, pseudonyms, limiter, facts }
  const { ledger, completions } = await openGateway({ ...called, ...context })
  const server = openServer({
    config,
    callers: { organisations, operatorTokens, people: accounts },
    limiter,
    routes: [
      gatewayRoutes({ completions, catalogue, clock, log }),
      otherEndpointRoutes,
      operationsRoutes({
        checkReadiness: createReadiness({ databases: [control], ledger, role: facts.role, isStopping, clock, log }),
      }),
    ],
    metrics,
    telemetry,
    readGauges: createScrape({ control, corpus: null, ledger, catalogue, router, metrics, clock, log }),
    isStopping,
    log,
  })
  return { control, server }
}
