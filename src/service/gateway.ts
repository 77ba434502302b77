import { createLedger } from '../billing/index.ts'
import { createCompletions, createEmbeddings } from '../gateway/index.ts'
import type { Access } from './access.ts'
import type { Foundation } from './foundation.ts'
import { observeLedger } from './ledger-metrics.ts'
import type { Models } from './models.ts'

export type Gateway = Awaited<ReturnType<typeof openGateway>>

/** Completions and embeddings, and the ledger that records every call of both. */
export async function openGateway(parts: Foundation & Access & Models) {
  const { control, organisations, catalogue, router, metrics, tokens, pseudonyms, clock, log, onStop } = parts
  const ledger = await createLedger({
    database: control,
    clock,
    log,
    observer: observeLedger(metrics),
    webhooks: {
      fetch,
      async target(id) {
        const url = organisations.get(id)?.webhookUrl
        const secret = url ? await organisations.loadWebhookSecret(id) : null
        return url && secret ? { url, secret } : undefined
      },
    },
  })
  onStop(() => ledger.close())
  const calls = { catalogue, router, ledger, tokens, pseudonyms, clock, log }
  const completions = createCompletions(calls)
  onStop(() => completions.close())
  return { ledger, completions, embeddings: createEmbeddings(calls) }
}
