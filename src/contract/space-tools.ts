import { z } from 'zod'
import { headerName } from './provider-address.ts'
import { headerValueRule, isHeaderValue, isKey, keyRule } from './secret-text.ts'

/** Tools of a Space's own: servers of the Model Context Protocol, and operations of an OpenAPI file. docs/use/space-tools.md describes them. */

export const spaceToolLimits = {
  /** Characters of the name of a server: the names of its tools begin with it. */
  name: 20,
  url: 2_000,
  secret: 4_000,
  serversPerSpace: 10,
  /** Tools that a model may be offered, of all servers of a Space. Models select worse from more. */
  allowedPerSpace: 40,
  /** Characters of their definitions as JSON: each call of the model pays for them. */
  allowedCharacters: 60_000,
  /** Tools of a server, or operations of a file, that are read. */
  toolsPerServer: 300,
  /** Characters of what is kept of them, as JSON. */
  serverCharacters: 512 * 1024,
  toolName: 128,
  description: 1_000,
  /** Characters of the JSON schema of the arguments of a tool. */
  schema: 8_000,
  /** Characters of an OpenAPI file. */
  document: 800_000,
} as const

export const toolServerKinds = ['mcp', 'openapi'] as const

const secret = z.string().min(1).max(spaceToolLimits.secret)
const isAuthentication = (name: string) => /^(?:cookie|content-type|accept|mcp-.*)$/i.test(name)

export const toolCredentialSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('bearer'), token: secret.refine(isKey, { error: keyRule }) }),
    z.strictObject({
      kind: z.literal('header'),
      name: headerName.refine((name) => !isAuthentication(name), { error: 'must be another header' }),
      value: secret.refine(isHeaderValue, { error: headerValueRule }),
    }),
    z.strictObject({
      kind: z.literal('basic'),
      username: z
        .string()
        .min(1)
        .max(200)
        .refine((name) => !name.includes(':'), { error: 'must have no colon' }),
      password: secret,
    }),
  ])
  .meta({ id: 'ToolCredential' })

const address = z
  .string()
  .max(spaceToolLimits.url)
  .describe(
    'https address without user name, query and fragment: of the MCP endpoint (Streamable HTTP), or the one that the paths of the OpenAPI file follow.',
  )
const document = z
  .string()
  .min(1)
  .max(spaceToolLimits.document)
  .describe('The OpenAPI file, version 3.0 or 3.1, as JSON or YAML.')

const fields = {
  name: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?$/,
      'must have 1 to 20 lower-case letters, digits and hyphens, and begin and end with a letter or digit',
    )
    .describe('Unique in the Space. The names of its tools begin with it: `crm__find_customer`.'),
  url: address,
  enabled: z.boolean().default(true).describe('false: no answer uses its tools.'),
  mayChangeData: z
    .boolean()
    .default(false)
    .describe('Also allows tools that may change data: operations that are not GET, MCP tools without `readOnlyHint`.'),
  visitors: z.boolean().default(false).describe('Answers to visitors of the chat page may use its tools.'),
  allowed: z
    .array(z.string().min(1).max(spaceToolLimits.toolName))
    .max(spaceToolLimits.allowedPerSpace)
    .default([])
    .describe(
      `Names of the tools that answers may use; of all servers of a Space at most ${spaceToolLimits.allowedPerSpace}.`,
    ),
}
const sent = {
  credential: toolCredentialSchema
    .nullable()
    .optional()
    .describe('Sent with each call. null: none. Absent: the stored one, unless the address leads to another host.'),
  document: document.optional(),
}

export const newToolServerSchema = z
  .strictObject({ kind: z.enum(toolServerKinds), ...fields, ...sent })
  .refine(({ kind, document: text }) => kind === 'openapi' || text === undefined, {
    path: ['document'],
    error: 'is for the kind `openapi`',
  })
  .refine(({ kind, document: text }) => kind === 'mcp' || text !== undefined, {
    path: ['document'],
    error: 'is required for the kind `openapi`',
  })
  .meta({ id: 'NewToolServer' })

export const changeToolServerSchema = z
  .strictObject({
    ...fields,
    ...sent,
    refresh: z.boolean().default(false).describe('Reads the tools of an MCP server again.'),
  })
  .meta({ id: 'ChangeToolServer' })

export const checkToolServerSchema = z
  .strictObject({
    kind: z.enum(toolServerKinds),
    url: address.optional(),
    ...sent,
    serverId: z.uuid().optional().describe('A server of this Space whose stored credential is used.'),
  })
  .meta({ id: 'CheckToolServer' })

const readTool = z.object({
  name: z.string(),
  description: z.string(),
  changesData: z.boolean().describe('It may change data, as far as its server or file states.'),
  problem: z
    .enum(['too_large', 'unsupported'])
    .nullable()
    .describe('Why it cannot be used: its arguments have a too large or an unsupported description. null: it can.'),
})

export const checkedToolServerSchema = z
  .object({
    title: z.string().nullable().describe('Name of the server or of the file.'),
    url: z.string().nullable().describe('The first address of the OpenAPI file; null without one.'),
    tools: z.array(readTool),
    isComplete: z.boolean().describe('false: there are more tools than are read.'),
  })
  .meta({ id: 'CheckedToolServer' })

export const toolServerSchema = z
  .object({
    id: z.uuid(),
    kind: z.enum(toolServerKinds),
    name: z.string(),
    url: z.string(),
    enabled: z.boolean(),
    mayChangeData: z.boolean(),
    visitors: z.boolean(),
    credential: z
      .object({ kind: z.enum(['bearer', 'header', 'basic']), name: z.string().nullable() })
      .nullable()
      .describe('Without its secret. `name`: of the header, or the user name.'),
    tools: z.array(readTool.extend({ allowed: z.boolean() })),
    generation: z.int().describe('Raised by each change. In quotes for `if-match`: `"7"`.'),
    readAt: z.iso.datetime().describe('When the tools were read. Answers use them as they were then.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ToolServer' })

export const toolServerListSchema = z
  .object({ items: z.array(toolServerSchema).describe('By name.') })
  .meta({ id: 'ToolServerList' })

export const toolServerParamsSchema = z.object({ id: z.string(), serverId: z.string() })

/** The place of an argument in the HTTP request of an operation. */
const requestParameter = z.strictObject({
  argument: z.string().max(100),
  name: z.string().max(200),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
})

/** A tool with everything that a call needs, as it is stored and archived. */
export const storedToolSchema = z.strictObject({
  name: z.string().min(1).max(spaceToolLimits.toolName),
  description: z.string().max(spaceToolLimits.description),
  parameters: z.record(z.string(), z.unknown()).describe('JSON schema of the arguments.'),
  changesData: z.boolean(),
  problem: z.enum(['too_large', 'unsupported']).nullable(),
  request: z
    .strictObject({
      method: z.enum(['get', 'post', 'put', 'patch', 'delete']),
      path: z.string().max(2_000),
      parameters: z.array(requestParameter).max(100),
      body: z.enum(['required', 'optional', 'none']),
    })
    .optional()
    .describe('Of an operation of an OpenAPI file.'),
})

/** A server in the archive of a Space, without its credential and with allowed tools only. */
export const archivedToolServerSchema = z.strictObject({
  kind: z.enum(toolServerKinds),
  name: fields.name,
  url: z.string().max(spaceToolLimits.url),
  mayChangeData: z.boolean(),
  visitors: z.boolean(),
  tools: z.array(storedToolSchema).max(spaceToolLimits.allowedPerSpace),
})

export type ToolCredential = z.output<typeof toolCredentialSchema>
export type NewToolServer = z.output<typeof newToolServerSchema>
export type ChangeToolServer = z.output<typeof changeToolServerSchema>
export type CheckToolServer = z.output<typeof checkToolServerSchema>
export type CheckedToolServerBody = z.output<typeof checkedToolServerSchema>
export type ToolServerBody = z.output<typeof toolServerSchema>
export type StoredTool = z.output<typeof storedToolSchema>
export type ArchivedToolServer = z.output<typeof archivedToolServerSchema>
