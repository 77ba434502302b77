import type { ToolCredential } from '../../contract/space-tools.ts'
import type { SecretBox } from '../../platform/kernel/index.ts'
import type { SealedColumn } from '../../tenants/operators/index.ts'
import type { ShownCredential } from './tool-server.ts'

/** Credentials of tool servers, sealed in the database. */

export const toolCredentialsColumn: SealedColumn = {
  kind: 'spaceTools',
  table: 'space_tool_servers',
  id: 'id',
  column: 'credential_sealed',
  contextOf: (id) => `space-tools:${id}`,
}

export const sealCredential = (box: SecretBox, id: string, credential: ToolCredential): string =>
  box.seal(JSON.stringify(credential), toolCredentialsColumn.contextOf(id))

/** Throws where the secret key is another one. */
export const openCredential = (box: SecretBox, id: string, sealed: string | null): ToolCredential | null =>
  sealed === null ? null : (JSON.parse(box.open(sealed, toolCredentialsColumn.contextOf(id))) as ToolCredential)

export function showCredential(credential: ToolCredential): ShownCredential {
  const { kind } = credential
  return { kind, name: kind === 'header' ? credential.name : kind === 'basic' ? credential.username : null }
}

export function headersOf(credential: ToolCredential | null): Record<string, string> {
  if (credential === null) return {}
  if (credential.kind === 'header') return { [credential.name]: credential.value }
  const value = credential.kind === 'bearer' ? `Bearer ${credential.token}` : `Basic ${basicToken(credential)}`
  return { authorization: value }
}

const basicToken = ({ username, password }: { username: string; password: string }) =>
  Buffer.from(`${username}:${password}`).toString('base64')

/** Removes the secret from what a server returned: some repeat the headers of a request. */
export function withoutSecret(text: string, credential: ToolCredential | null): string {
  return secretsOf(credential).reduce((cleaned, secret) => cleaned.replaceAll(secret, '…'), text)
}

function secretsOf(credential: ToolCredential | null): string[] {
  if (credential === null) return []
  if (credential.kind === 'bearer') return [credential.token]
  if (credential.kind === 'header') return [credential.value]
  return [basicToken(credential), credential.password]
}
