import type { StoredTool, ToolCredential } from '../../contract/space-tools.ts'
import { AppError, type Log, type SecretBox } from '../../platform/kernel/index.ts'
import type { Space } from '../spaces/index.ts'
import type { ToolNetwork } from './address.ts'
import { openCredential } from './credential.ts'
import { callAction } from './http-action.ts'
import { callMcpTool, listMcpTools } from './mcp-connection.ts'
import type { OfferedServer, ReadTools, SpaceTool, ToolAnswer, ToolUse } from './tool-server.ts'
import type { ToolServerStore } from './tool-servers.store.ts'
import { uniqueName } from './tool-names.ts'
import type { StoreOf } from '../../platform/database/index.ts'

export interface ToolCallsDependencies {
  store: StoreOf<Pick<ToolServerStore, 'offered'>>
  /** Each connects only to what the rule of `network` accepts. */
  fetches: { https: typeof fetch; http: typeof fetch }
  network: ToolNetwork
  secretBox: SecretBox
  /** Counts a call, for the metrics. */
  observe: (call: { kind: string; outcome: string }) => void
  log: Log
}

export type ToolCalls = ReturnType<typeof createToolCalls>

/** Longest time of reading the tools of a server. A call of an answer has the limit of its tools. */
const listMs = 15_000
/** Longest name of a tool that every provider accepts. */
const maximumName = 64

type Call = (given: Record<string, unknown>, signal: AbortSignal) => Promise<ToolAnswer>
type MakeCall = (server: OfferedServer, tool: StoredTool) => Call

/** What goes to tool servers. */
export function createToolCalls(dependencies: ToolCallsDependencies) {
  const { store, network } = dependencies
  const makeCall = createCalls(dependencies)
  return {
    network,
    /** Throws `invalid_request` where the server does not answer as one. */
    async list(
      { url, credential }: { url: string; credential: ToolCredential | null },
      signal: AbortSignal,
    ): Promise<ReadTools> {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(listMs)])
      try {
        return await listMcpTools({ url, credential, fetch: fetchOf(dependencies, url) }, limited)
      } catch (error) {
        signal.throwIfAborted()
        throw unreadable(error, limited)
      }
    },
    /** The tools that an answer may use, whose definitions have at most `characters` as JSON. */
    load: async (space: Pick<Space, 'id' | 'organisationId'>, toolUse: ToolUse, characters: number) =>
      offer(await store(space.organisationId).offered(space.id, toolUse), { toolUse, characters, makeCall }),
  }
}

const fetchOf = ({ fetches }: Pick<ToolCallsDependencies, 'fetches'>, url: string) =>
  url.startsWith('https:') ? fetches.https : fetches.http

function createCalls(dependencies: ToolCallsDependencies): MakeCall {
  const { secretBox, observe, log } = dependencies

  function call(server: OfferedServer, tool: StoredTool, given: Record<string, unknown>, signal: AbortSignal) {
    const credential = openCredential(secretBox, server.id, server.credentialSealed)
    const { url } = server
    const fetch = fetchOf(dependencies, url)
    return server.kind === 'mcp'
      ? callMcpTool({ url, credential, fetch }, tool, given, signal)
      : callAction({ url, request: tool.request!, credential, given, fetch, signal })
  }

  // Rejects only with the reason of `signal`: everything else is a problem that the model receives.
  return (server, tool) => async (given, signal) => {
    const startMs = performance.now()
    const note = (outcome: string, reason?: string) => {
      observe({ kind: server.kind, outcome })
      const milliseconds = Math.round(performance.now() - startMs)
      // Neither arguments nor results: they may have personal data.
      const facts = { serverId: server.id, tool: tool.name, outcome, milliseconds, ...(reason && { reason }) }
      log.info(facts, 'a tool of a Space was used')
    }
    try {
      const answer = await call(server, tool, given, signal)
      note('problem' in answer ? 'refused' : 'answered')
      return answer
    } catch (error) {
      note(signal.aborted ? 'stopped' : 'failed', signal.aborted ? undefined : reasonOf(error))
      signal.throwIfAborted()
      return { problem: 'The service could not be reached, or did not answer as it should.' }
    }
  }
}

function offer(
  servers: readonly OfferedServer[],
  { toolUse, characters, makeCall }: { toolUse: ToolUse; characters: number; makeCall: MakeCall },
): SpaceTool[] {
  const names = new Set<string>()
  let left = characters
  return servers.flatMap((server) =>
    server.allowed.flatMap((tool): SpaceTool[] => {
      if (tool.changesData && (!server.mayChangeData || toolUse === 'reading')) return []
      const name = uniqueName(`${server.name}__${tool.name}`, maximumName, names)
      const { description, parameters } = tool
      left -= JSON.stringify({ name, description, parameters }).length
      return left < 0 ? [] : [{ name, description, parameters, call: makeCall(server, tool) }]
    }),
  )
}

/** For the log: messages of errors may repeat what a server has sent. */
function reasonOf(error: unknown): string {
  const { name, code, status, cause } = error as { name?: unknown; code?: unknown; status?: unknown; cause?: unknown }
  const inner = (cause as { code?: unknown } | undefined)?.code
  return [name, code, status, inner].filter((part) => typeof part === 'string' || typeof part === 'number').join(' ')
}

function unreadable(error: unknown, limited: AbortSignal): AppError {
  const options = { param: 'url', internal: reasonOf(error) }
  if (limited.aborted)
    return new AppError('invalid_request', '`url` took too long to answer as an MCP server.', options)
  const { status, data } = error as { status?: unknown; data?: { status?: unknown } }
  const found = status ?? data?.status
  return typeof found === 'number'
    ? new AppError('invalid_request', `\`url\` answered with the status ${found}, not as an MCP server.`, options)
    : new AppError('invalid_request', '`url` could not be reached, or did not answer as an MCP server.', options)
}
