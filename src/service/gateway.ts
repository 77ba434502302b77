import { createLedger } from '../billing/index.ts'
import { createCompletions, createEmbeddings } from '../gateway/index.ts'
import type { Access } from './access.ts'
import type { Foundation } from './foundation.ts'
import { observeLedger } from './ledger-metrics.ts'
import type { Models } from './models.ts'

export type Gateway = Awaited<ReturnType<typeof openGateway>>

/** The two doors to models, completions and embeddings, and the ledger that every call through them is written into. */
export async function openGateway(
  { control, metrics, tokens, pseudonyms, clock, log, onStop }: Foundation,
  { organisations }: Access,
  { catalogue, router }: Models,
) {
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
  const dependencies = { catalogue, router, ledger, tokens, pseudonyms, clock, log }
  const completions = createCompletions(dependencies)
  onStop(() => completions.close())
  return { ledger, completions, embeddings: createEmbeddings(dependencies) }
}
