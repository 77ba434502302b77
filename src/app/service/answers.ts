import type { AnswerDependencies } from '../../chat/chat/index.ts'
import type { LedgerService } from '../../gateway/billing/index.ts'
import type { Completions } from '../../gateway/gateway/index.ts'
import type { TableQueries } from '../../documents/ingestion/index.ts'
import type { Clock, Telemetry } from '../../platform/kernel/index.ts'
import { acceptsTools, type LiveCatalogue, offlineModelId } from '../../gateway/models/index.ts'
import type { Organisations } from '../../tenants/organisations/index.ts'
import type { DocumentReader, Retrieval } from '../../documents/retrieval/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'

interface AnswersDependencies {
  completions: Completions
  retrieval: Retrieval
  documentReader: DocumentReader
  tables: TableQueries
  ledger: LedgerService
  tokens: TokenCounting
  telemetry: Telemetry | null
  organisations: Pick<Organisations, 'get'>
  catalogue: LiveCatalogue
  clock: Clock
}

/** What answers of Spaces need, for chats and for runs of golden questions. */
export function createAnswers({ catalogue, documentReader, clock, ...parts }: AnswersDependencies): AnswerDependencies {
  const { completions, retrieval, tables, ledger, tokens, telemetry, organisations } = parts
  return {
    completions,
    retrieval,
    documents: documentReader,
    tables,
    ledger,
    tokens,
    telemetry,
    findModel(organisation, id) {
      const resolved = catalogue.resolve(organisation, id, clock.now())
      if (resolved?.model.kind !== 'chat') return undefined
      const { model } = resolved
      const tools = acceptsTools(catalogue.built(), resolved)
      return { ...model, followsInstructions: model.id !== offlineModelId, tools }
    },
    fallbackModel: (organisation) => catalogue.baseTierModels(organisation, clock.now())[0]?.id,
    findOrganisation: (id) => organisations.get(id),
    now: () => clock.now(),
  }
}
