import { createLedger } from '../gateway/billing/index.ts'
import { createCompletions, createEmbeddings, createReranking, createTokenCounts } from '../gateway/gateway/index.ts'
import { createCatalogue, createCatalogueStore, loadPriceSnapshot } from '../gateway/models/index.ts'
import { createNameCheck, createProvider } from '../gateway/providers/index.ts'
import { createHistoryCounts, createHistoryWriter, createRouter } from '../gateway/routing/index.ts'
import { createTokenCounting } from '../gateway/tokens/index.ts'
import { createChangeFeed, recordChange } from '../platform/database/index.ts'
import { createMetrics } from '../platform/http/index.ts'
import { createPseudonyms, createSecretBox, publicNetworks, sharedOwner } from '../platform/kernel/index.ts'
import { createAccounts } from '../tenants/accounts/index.ts'
import { createCertificateReport, createDiskReport } from '../tenants/alerts/index.ts'
import { createOperatorTokens, createOperatorTokenStore, openAdminLogRetention } from '../tenants/operators/index.ts'
import {
  createOrganisationLimiter,
  createOrganisations,
  createOrganisationStore,
} from '../tenants/organisations/index.ts'
import { listParts, type PartsOf } from './part-list.ts'
import { checkConnections } from './parts/connections.ts'
import { describeInstance } from './parts/instance-facts.ts'
import { createScrape, observeLedger } from './parts/scrape.ts'
import {
  journalOptions,
  openFetch,
  readCertificates,
  singleSignOnOf,
  toCatalogueConfiguration,
} from './parts/settings-of-parts.ts'
import { createReadiness } from './parts/readiness.ts'
import { accountsSecret } from './parts/secret-key.ts'
import { openTelemetry } from './parts/telemetry.ts'
import type { Given } from './given.ts'

/**
 * The first parts of every process, which are all that a process with the role `gateway` has. The list continues in compose.ts, whose modules such a
 * process does not load.
 */

/** Connecting to the single sign-on provider: a person is waiting. */
const signInConnectMs = 5_000
/** Connecting to the receiver of a webhook; one attempt has 10 seconds in all. */
const webhookConnectMs = 5_000

export const gatewayParts = listParts<Given>()
  .add('metrics', () => createMetrics())
  // Before all that it traces, so that a stop exports their last spans.
  .add('telemetry', ({ config, metrics, exportSpansEveryMs, log, onStop }) =>
    openTelemetry({ config, metrics, exportSpansEveryMs, log, onStop }),
  )
  .add('secretBox', ({ secretKey, config }) => createSecretBox(secretKey, config.secrets.secondSecretKey))
  .add('pseudonyms', ({ secretKey }) => createPseudonyms(secretKey))
  .add('changeFeed', ({ control, clock, log }) => createChangeFeed({ database: control, clock, log }))
  // Apart from what it starts, so that a start that fails here closes it.
  .add('changeFeedStarted', ({ changeFeed }) => changeFeed.start())
  .add('tokens', ({ log }) => createTokenCounting({ log }))
  .mark('change feed')

  // Who may call: organisations with their keys, operator tokens, people.
  .add('organisationStore', ({ control }) => createOrganisationStore(control, recordChange))
  .add('organisations', ({ organisationStore, changeFeed, secretBox, config, clock, log }) =>
    createOrganisations({
      store: organisationStore,
      changeFeed,
      clock,
      log,
      secretBox,
      webhookRule: publicNetworks(config.settings.network.webhookNetworks),
    }),
  )
  .add('operatorTokens', ({ control, changeFeed, config, clock }) =>
    createOperatorTokens({
      store: createOperatorTokenStore(control.for(sharedOwner), recordChange),
      changeFeed,
      clock,
      configuredToken: config.secrets.operatorToken,
    }),
  )
  .add('signInFetch', ({ config }) =>
    openFetch(config, { limits: { connectTimeoutMs: signInConnectMs }, proxies: config.proxies }),
  )
  .add('accounts', ({ control, secretKey, secretBox, signInFetch, passwordHashing, config, clock, log }) => {
    const { secondSecretKey } = config.secrets
    return createAccounts({
      database: control,
      secret: accountsSecret(secretKey),
      secondSecret: secondSecretKey === undefined ? undefined : accountsSecret(secondSecretKey),
      publicUrl: config.settings.server.publicUrl,
      passwordSignIn: config.settings.accounts.passwordSignIn,
      singleSignOn: singleSignOnOf(config),
      secretBox,
      fetch: signInFetch.fetch,
      passwordHashing,
      clock,
      log,
    })
  })
  .add('adminLogRetention', ({ control, config, clock, log }) =>
    openAdminLogRetention({ database: control, keepDays: config.settings.adminLog.keepDays, clock, log }),
  )
  .add('diskReport', ({ control, config, clock, log }) =>
    createDiskReport({ database: control.for(sharedOwner), folder: config.settings.dataFolder, clock, log }),
  )
  .add('certificateReport', ({ control, config, clock, log }) =>
    createCertificateReport({
      database: control.for(sharedOwner),
      publicUrl: config.settings.server.publicUrl,
      clock,
      log,
    }),
  )
  .add('limiter', ({ clock }) => createOrganisationLimiter({ clock }))
  .mark('organisations and accounts')

  // Which models there are, and the calls of their providers.
  .add('priceSnapshot', () => loadPriceSnapshot())
  .add('catalogueStore', ({ control, secretBox, clock, log }) =>
    createCatalogueStore({ database: control.for(sharedOwner), secretBox, recordChange, clock, log }),
  )
  .add('catalogue', ({ catalogueStore, priceSnapshot, changeFeed, metrics, tokens, config, clock, log }) => {
    const certificateAuthority = readCertificates(config)
    const { proxies } = config
    const onRefusal = (refusal: { deployment: string; field: string }) => metrics.learnedRefusals.inc(refusal)
    return createCatalogue({
      configuration: toCatalogueConfiguration(config),
      snapshot: priceSnapshot,
      store: catalogueStore,
      changes: changeFeed,
      createProvider: (provider) =>
        createProvider(provider, { log, clock, tokens, proxies, certificateAuthority, onRefusal }),
      clock,
      log,
    })
  })
  .add('catalogueLoaded', ({ catalogue }) => catalogue.start())
  .add('deploymentHistory', ({ clock }) => createHistoryCounts({ clock }))
  .add('router', ({ metrics, deploymentHistory, clock, log }) =>
    createRouter({
      clock,
      random: Math.random,
      log,
      history: deploymentHistory.record,
      attempts: metrics.providerAttempts,
    }),
  )
  .add('historyWriter', ({ control, deploymentHistory: counts, router, clock, log }) =>
    createHistoryWriter({ database: control.for(sharedOwner), counts, failing: () => router.failing(), clock, log }),
  )
  .mark('catalogue')

  // The ledger, and the calls that it records.
  .add('facts', ({ config }) => describeInstance(config))
  .add('webhookFetch', ({ config }) =>
    openFetch(config, {
      limits: { connectTimeoutMs: webhookConnectMs },
      rule: publicNetworks(config.settings.network.webhookNetworks),
    }),
  )
  .add('ledger', ({ control, organisations, webhookFetch, facts, metrics, instanceExpiryMs, config, clock, log }) =>
    createLedger({
      database: control,
      clock,
      log,
      observer: observeLedger(metrics, log, clock),
      keepEntriesDays: config.settings.ledger.keepEntriesDays,
      journal: journalOptions(control.engine, config),
      instanceExpiryMs,
      facts,
      webhooks: {
        fetch: webhookFetch.fetch,
        async target(id) {
          const url = organisations.get(id)?.webhookUrl
          const secret = url ? await organisations.loadWebhookSecret(id) : null
          return url && secret ? { url, secret } : undefined
        },
      },
    }),
  )
  .add('connections', (parts) => checkConnections(parts))
  .add('calls', ({ catalogue, router, ledger, tokens, pseudonyms, limiter, telemetry, clock, log }) => ({
    catalogue,
    router,
    ledger,
    tokens,
    pseudonyms,
    limiter,
    telemetry,
    clock,
    log,
  }))
  .add('names', ({ config, nameLookup, clock }) =>
    createNameCheck({ clock, lookup: nameLookup, passesUnknown: config.proxies.httpsProxy !== undefined }),
  )
  .add('completions', ({ calls }) => createCompletions(calls))
  .add('tokenCounts', ({ calls }) => createTokenCounts(calls))
  .add('embeddings', ({ calls }) => createEmbeddings(calls))
  .add('reranking', ({ calls }) => createReranking(calls))
  .add('checkReadiness', ({ control, corpus, ledger, facts, stop, clock, log }) =>
    createReadiness({
      databases: (corpus ? [control, corpus] : [control]).map((database) => database.for(sharedOwner)),
      ledger,
      role: facts.role,
      stop,
      clock,
      log,
    }),
  )
  .add('readGauges', ({ control, corpus, ledger, catalogue, router, metrics, clock, log }) =>
    createScrape({ control, corpus, ledger, catalogue, router, metrics, clock, log }),
  )
  .mark('ledger and gateway')

export type GatewayParts = PartsOf<typeof gatewayParts>
