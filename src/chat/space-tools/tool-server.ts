import type { StoredTool, ToolCredential, toolServerKinds } from '../../contract/space-tools.ts'
import type { OrganisationId, SpaceId } from '../../platform/kernel/index.ts'

/** A server of tools of a Space. Immutable. */
export interface ToolServer {
  readonly id: string
  readonly spaceId: SpaceId
  readonly organisationId: OrganisationId
  readonly kind: (typeof toolServerKinds)[number]
  readonly name: string
  readonly url: string
  readonly enabled: boolean
  readonly mayChangeData: boolean
  readonly visitors: boolean
  readonly credentialSealed: string | null
  readonly credentialShown: ShownCredential | null
  /** Every tool that was read: answers use the definitions of that time, so that a server cannot change them unseen. */
  readonly tools: readonly StoredTool[]
  /** Of the tools that answers may use. */
  readonly allowed: readonly StoredTool[]
  readonly generation: number
  readonly readAt: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** What people see of a credential. */
export interface ShownCredential {
  kind: ToolCredential['kind']
  /** Of the header, or the user name. */
  name: string | null
}

/** What an answer needs of a server. */
export type OfferedServer = Pick<
  ToolServer,
  'id' | 'kind' | 'name' | 'url' | 'mayChangeData' | 'credentialSealed' | 'allowed'
>

/** What reading a server or a file has found. */
export interface ReadTools {
  title: string | null
  /** The first address of an OpenAPI file. */
  url: string | null
  tools: StoredTool[]
  /** False: there are more. */
  isComplete: boolean
}

/** What a call gives. `quoted` has text of the server: not trusted. Neither has the credential. */
export type ToolAnswer = { text: string; isCut: boolean } | { problem: string; quoted?: string }

/** A tool of a Space as an answer offers it to a model. */
export interface SpaceTool {
  name: string
  description: string
  parameters: Record<string, unknown>
  /** Rejects only with the reason of `signal`. */
  call(given: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer>
}

/** Which tools an answer may use: `visitors` those for visitors of the chat page, `reading` those that change no data. */
export type ToolUse = 'all' | 'visitors' | 'reading'
