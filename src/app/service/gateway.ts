import path from 'node:path'
import { createLedger, type InstanceFacts } from '../../gateway/billing/index.ts'
import { type Database, lockFolder } from '../../platform/database/index.ts'
import { createCompletions, createEmbeddings, createReranking } from '../../gateway/gateway/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { type Pseudonyms, publicNetworks, type Telemetry } from '../../platform/kernel/index.ts'
import type { Catalogue } from '../../gateway/models/index.ts'
import type { Organisations, TokenLimiter } from '../../tenants/organisations/index.ts'
import type { Router } from '../../gateway/routing/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'
import type { PartContext } from './foundation.ts'
import { observeLedger } from './ledger-metrics.ts'
import { openFetch } from './outgoing-fetch.ts'

interface GatewayDependencies extends PartContext {
  control: Database
  organisations: Pick<Organisations, 'get' | 'loadWebhookSecret'>
  catalogue: Catalogue
  router: Router
  metrics: Metrics
  tokens: TokenCounting
  pseudonyms: Pseudonyms
  limiter: TokenLimiter
  telemetry: Telemetry | null
  facts: InstanceFacts
}

/** Completions, embeddings and reranking, and the ledger that records every call of them. */
export async function openGateway(dependencies: GatewayDependencies) {
  const { control, organisations, catalogue, router, metrics, tokens, pseudonyms, limiter, telemetry } = dependencies
  const { config, clock, log, instanceExpiryMs, onStop } = dependencies
  const ledger = await createLedger({
    database: control,
    clock,
    log,
    observer: observeLedger(metrics, log, clock),
    keepEntriesDays: config.settings.ledger.keepEntriesDays,
    journal: journalOptions(control, config),
    instanceExpiryMs,
    facts: dependencies.facts,
    webhooks: {
      fetch: openWebhookFetch(dependencies),
      async target(id) {
        const url = organisations.get(id)?.webhookUrl
        const secret = url ? await organisations.loadWebhookSecret(id) : null
        return url && secret ? { url, secret } : undefined
      },
    },
  })
  onStop(() => ledger.close())
  const calls = { catalogue, router, ledger, tokens, pseudonyms, limiter, telemetry, clock, log }
  const completions = createCompletions(calls)
  onStop(() => completions.close())
  return { ledger, completions, embeddings: createEmbeddings(calls), reranking: createReranking(calls) }
}

/** Connecting to the receiver of a webhook; one attempt has 10 seconds in all. */
const webhookConnectMs = 5_000

/** `fetch` that reaches the public internet and the networks of `network.webhookNetworks`, without a proxy. */
function openWebhookFetch({ config, onStop }: PartContext): typeof fetch {
  const { fetch, close } = openFetch(config, {
    limits: { connectTimeoutMs: webhookConnectMs },
    rule: publicNetworks(config.settings.network.webhookNetworks),
  })
  onStop(close)
  return fetch
}

/** `auto` is without a journal on a server, which others may replicate: a lost disk of this machine then loses no bill. */
function journalOptions(control: Database, { settings, processNumber }: PartContext['config']) {
  const { journal, journalFolder } = settings.ledger
  if (control.engine === 'embedded') {
    return {
      mode: journal === 'database' ? ('database' as const) : ('local' as const),
      folder: path.join(settings.dataFolder, 'ledger-journal'),
    }
  }
  return {
    mode: journal === 'local' ? ('local' as const) : ('database' as const),
    // Not the folder of a journal of an embedded database that the installation had before.
    // A journal has one writer, so each of several processes has its own.
    folder: path.resolve(settings.dataFolder, journalFolder ?? 'server-journal') + suffixOf(processNumber),
    lock: (folder: string) => lockFolder(folder, 'ledger.journalFolder'),
  }
}

const suffixOf = (processNumber: number) => (processNumber === 1 ? '' : `-${processNumber}`)
