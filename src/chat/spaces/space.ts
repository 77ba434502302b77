import type { EndpointId, OrganisationId, SpaceId } from '../../platform/kernel/index.ts'

/** Settings of a Space's answers. */
export interface SpaceSettings {
  /** Most passages that the model receives for one answer; fewer where its context window has no room. */
  readonly maximumPassages: number
  /** Most tokens of the passages of one search: each answer pays for them. */
  readonly maximumPassageTokens: number
  /** The files are given whole, without a search, where they have at most this many tokens; 0: never. */
  readonly wholeSpaceTokens: number
  /** When credits are exhausted, a base-tier model answers at the operator's cost, where the service has one. Off by default. */
  readonly baseTierFallback: boolean
  /** 0 to 2, scaled per provider; null for the provider's default. */
  readonly temperature: number | null
  /** Most output tokens of one answer; null for the model's limit. */
  readonly maximumOutputTokens: number | null
  /** An agentic answer whose calls have cost this much calls no more tools, in US dollars; null for no limit. */
  readonly maximumToolCostUsd: number | null
  /** Keeps the text of questions that the published chat could not answer. Only administrators may turn it on. */
  readonly keepUnansweredQuestions: boolean
  /** Stores the answers of the published chat with their questions. Only administrators may change this and the next setting. */
  readonly keepConversations: boolean
  /** Days after which a stored answer is deleted. */
  readonly conversationDays: number
  /** `auto`: the Space's model rewrites follow-up questions for the search, in a separate call that is billed. */
  readonly queryRewriting: 'auto' | 'off'
  /** `auto`: with inline sources, Portico adds markers to sentences that a passage supports and that the model gave none. */
  readonly attribution: 'auto' | 'off'
  /** `auto`: pages of uploaded files without text are read from their pictures, where text recognition is installed. */
  readonly ocr: 'auto' | 'off'
  /** Languages of those pages, as codes such as `deu`; none: each file's language is found. */
  readonly ocrLanguages: string[]
  /** Fields of the metadata that the filter of each answer and each search must restrict to values; none: a filter is optional. */
  readonly requiredFilter: string[]
}

/** Instructions and a model that answer from uploaded documents. Immutable: a change replaces the object in memory. */
export interface Space {
  readonly id: SpaceId
  readonly organisationId: OrganisationId
  readonly name: string
  /** The beginning of every answer's system prompt. */
  readonly instructions: string
  /** As it was given: canonical id or alias, with or without `eu/`. It is resolved for each answer. */
  readonly model: string
  readonly settings: SpaceSettings
  readonly published: boolean
  /** Created when the Space is first published, and kept; null before. */
  readonly endpointId: EndpointId | null
  readonly createdAt: number
  readonly updatedAt: number
}
