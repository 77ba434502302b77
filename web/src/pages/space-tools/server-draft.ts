import type { CheckedToolServerBody, ToolServerBody } from '@contract/space-tools.ts'

/** What the form of a tool server has. */
export interface ServerDraft {
  kind: ToolServerBody['kind']
  name: string
  url: string
  /** `keep`: the stored one. */
  credential: 'keep' | 'none' | 'bearer' | 'header' | 'basic'
  /** Of the header, or the user name. */
  credentialName: string
  secret: string
  /** The text of an OpenAPI file; empty: the stored tools stay. */
  document: string
  mayChangeData: boolean
  visitors: boolean
  allowed: string[]
}

export type ShownTool = CheckedToolServerBody['tools'][number]

export function draftOf(kind: ToolServerBody['kind'], server: ToolServerBody | undefined): ServerDraft {
  return {
    kind,
    name: server?.name ?? '',
    url: server?.url ?? '',
    credential: server?.credential ? 'keep' : 'none',
    credentialName: '',
    secret: '',
    document: '',
    mayChangeData: server?.mayChangeData ?? false,
    visitors: server?.visitors ?? false,
    allowed: server?.tools.filter(({ allowed }) => allowed).map(({ name }) => name) ?? [],
  }
}

/** The credential as the API takes it; `{}` keeps the stored one. */
function credentialOf({ credential, credentialName: name, secret }: ServerDraft): { credential?: object | null } {
  switch (credential) {
    case 'keep':
      return {}
    case 'none':
      return { credential: null }
    case 'bearer':
      return { credential: { kind: 'bearer', token: secret } }
    case 'header':
      return { credential: { kind: 'header', name: name.trim(), value: secret } }
    case 'basic':
      return { credential: { kind: 'basic', username: name, password: secret } }
  }
}

/** The body that lists the tools of the server or of the file. */
export function checkOf(draft: ServerDraft, server: ToolServerBody | undefined): object {
  if (draft.kind === 'openapi') return { kind: 'openapi', document: draft.document }
  const stored = server && draft.credential === 'keep' ? { serverId: server.id } : {}
  return { kind: 'mcp', url: draft.url.trim(), ...credentialOf(draft), ...stored }
}

/** The body that stores the form. Tools that the others do not allow are left out. */
export function bodyOf(draft: ServerDraft, shown: readonly ShownTool[], enabled: boolean): object {
  const { name, url, mayChangeData, visitors, document } = draft
  const usable = new Set(shown.filter((tool) => isUsable(tool, draft)).map((tool) => tool.name))
  const allowed = draft.allowed.filter((tool) => usable.has(tool))
  return {
    name: name.trim(),
    url: url.trim(),
    enabled,
    mayChangeData,
    visitors,
    allowed,
    ...credentialOf(draft),
    ...(draft.kind === 'openapi' && document !== '' && { document }),
  }
}

export const isUsable = ({ problem, changesData }: ShownTool, { mayChangeData }: Pick<ServerDraft, 'mayChangeData'>) =>
  problem === null && (mayChangeData || !changesData)

/** A server as it is, with another state: the body of a change. */
export function switchedOf({ name, url, mayChangeData, visitors, tools }: ToolServerBody, enabled: boolean): object {
  const allowed = tools.filter((tool) => tool.allowed).map((tool) => tool.name)
  return { name, url, mayChangeData, visitors, allowed, enabled }
}
