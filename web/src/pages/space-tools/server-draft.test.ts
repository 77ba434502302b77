import { expect, test } from 'vitest'
import type { ToolServerBody } from '@contract/space-tools.ts'
import { bodyOf, checkOf, draftOf, switchedOf } from './server-draft.ts'

const tools = [
  { name: 'read', description: '', changesData: false, problem: null, allowed: true },
  { name: 'write', description: '', changesData: true, problem: null, allowed: true },
]
const server = {
  id: 'one',
  kind: 'mcp',
  name: 'crm',
  url: 'https://crm.example',
  enabled: true,
  mayChangeData: true,
  visitors: false,
  credential: { kind: 'bearer', name: null },
  tools,
} as unknown as ToolServerBody

test('an unchanged form keeps the credential and the tools', () => {
  const draft = draftOf('mcp', server)
  expect(bodyOf(draft, tools, true)).toEqual({
    name: 'crm',
    url: 'https://crm.example',
    enabled: true,
    mayChangeData: true,
    visitors: false,
    allowed: ['read', 'write'],
  })
  expect(checkOf(draft, server)).toEqual({ kind: 'mcp', url: 'https://crm.example', serverId: 'one' })
})

test('tools that may change data leave the form with their setting', () => {
  const draft = { ...draftOf('mcp', server), mayChangeData: false }
  expect(bodyOf(draft, tools, true)).toMatchObject({ allowed: ['read'] })
})

test('each credential has the fields that the API takes', () => {
  const draft = { ...draftOf('mcp', undefined), credentialName: 'x-key', secret: 's' }
  const credential = (kind: typeof draft.credential) => bodyOf({ ...draft, credential: kind }, [], true)
  expect(credential('none')).toMatchObject({ credential: null })
  expect(credential('bearer')).toMatchObject({ credential: { kind: 'bearer', token: 's' } })
  expect(credential('header')).toMatchObject({ credential: { kind: 'header', name: 'x-key', value: 's' } })
  expect(credential('basic')).toMatchObject({ credential: { kind: 'basic', username: 'x-key', password: 's' } })
})

test('a server is switched without other changes', () => {
  expect(switchedOf(server, false)).toMatchObject({ enabled: false, allowed: ['read', 'write'], mayChangeData: true })
})
