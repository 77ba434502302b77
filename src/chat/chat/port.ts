import type { Ledger, Receipt, SpendLimit } from '../../gateway/billing/index.ts'
import type { ChatRequest } from '../../contract/chat.ts'
import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import type { Completions } from '../../gateway/gateway/index.ts'
import type { TableQueries } from '../../documents/ingestion/index.ts'
import type { RequestId, Telemetry } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { ProviderMessage } from '../../gateway/providers/index.ts'
import type { DocumentReader, Retrieval } from '../../documents/retrieval/index.ts'
import type { SpaceTool, ToolUse } from '../space-tools/index.ts'
import type { Space } from '../spaces/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'
import type { CitationCounts } from './citations/citation-check.ts'
import type { ContextWindow } from './context/context-window.ts'

export interface AnswerCall {
  requestId: RequestId
  organisation: Organisation
  space: Space
  messages: ChatRequest['messages']
  /** Earlier messages of the request, for which no model has room; absent: none. */
  omittedMessages?: number
  /** Only documents whose metadata match exist for the answer: for its searches, tools, citations and links. null: all of the Space. */
  filter: MetadataFilter | null
  inlineSources: boolean
  /** References name the passages of their documents. */
  passageReferences: boolean
  agentic: boolean
  /** Which tools of the Space's own an agentic answer may use. Absent: all. */
  ownTools?: ToolUse
  /** A reader sees the text while it is written. Absent: the answer is sent as a whole. */
  isStreamed?: boolean
  /** Receives the references of a complete answer; must not throw. */
  noteReferences?: (references: readonly { documentId: string }[]) => void
  /** Receives what became of the markers of a complete answer; must not throw. */
  noteCitations?: (counts: CitationCounts) => void
  /** False once the Space was unpublished or removed: the answer ends then. Absent: it is always offered. */
  isOffered?: () => boolean
  /** Receives a receipt for each call of the model, also of an answer that fails later. */
  receipts?: Receipt[]
  /** What the answer may cost, inside of the budget. Then no other model answers at the operator's cost. */
  spending?: SpendLimit | undefined
  signal: AbortSignal
}

export interface AnswerDependencies {
  completions: Completions
  retrieval: Retrieval
  documents: DocumentReader
  tables: TableQueries
  ledger: Ledger
  tokens: TokenCounting
  /** Tools of Spaces whose definitions have at most so many characters. Absent: there are none. */
  loadOwnTools?: (space: Space, use: ToolUse, characters: number) => Promise<SpaceTool[]>
  /** With its present budget and subscription, from memory. */
  findOrganisation: (id: string) => Organisation | undefined
  /** Undefined where the organisation cannot call the model at the moment. */
  findModel: (organisation: Organisation, id: string) => AnswerModel | undefined
  /** The cheapest base-tier model. Spaces with `baseTierFallback` use it, at the operator's cost, when the credits are exhausted. */
  fallbackModel: (organisation: Organisation) => string | undefined
  /** null or absent: answers are not traced. */
  telemetry?: Telemetry | null
  now: () => number
}

export interface AnswerModel {
  contextTokens: number
  maxOutputTokens: number
  /** False for the built-in offline model, which only quotes. */
  followsInstructions: boolean
  /** It accepts tools. */
  tools: boolean
}

/** An answer that can begin: its model is available, and the question fits into the model's context. */
export interface PreparedAnswer {
  model: string
  whenExhausted: 'refuse' | 'write_off'
  /** Sentences without a marker may get one. The built-in offline model only quotes, and cites each quote. */
  attributes: boolean
  /** The model is able to rewrite questions. */
  canRewrite: boolean
  /** The built-in offline model: its searches add synonyms to the question. */
  onlyQuotes: boolean
  window: ContextWindow
  system: string
  /** The model may call tools: the request asks for the agentic workflow, and the model accepts tools. */
  hasTools: boolean
  /** Those of the Space's own that it may call. */
  ownTools: readonly SpaceTool[]
  /** The earlier turns that fit. */
  earlier: ProviderMessage[]
}
