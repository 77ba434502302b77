import { expect, test } from 'vitest'
import { type ClientBody, hasClientBodies, readClientBodies } from '../../../../test/harness/client-bodies.ts'
import { providerCall } from '../../../../test/harness/provider-call.ts'
import { readJson } from '../../../platform/bodies/index.ts'
import { isAppError } from '../../../platform/kernel/index.ts'
import { createAnthropicAdapter } from '../../providers/anthropic/index.ts'
import { messagesBody } from './messages-body.ts'

/** Share of the bodies of each kind that must arrive with nothing dropped. */
const leastShare = 0.97
const adapter = createAnthropicAdapter({ id: 'claude', format: 'anthropic', apiKey: 'sk-ant-secret-of-test' })

/** Undefined: the body arrives at a host of the API as it was sent. */
function fault({ body }: ClientBody): string | undefined {
  try {
    const parsed = readJson(Buffer.from(JSON.stringify(body)), messagesBody)
    const call = providerCall(parsed.request, { id: parsed.model, maxOutputTokens: 64_000 })
    const wire = adapter.toRequest(call, { stream: parsed.stream })
    const lost = firstDifference(withoutNeutral(body), withoutNeutral(wire.body), '')
    if (lost !== undefined) return `${lost} differs`
    const canonical = JSON.stringify(parsed.request.messages)
    const text = textsOf(body).find((wanted) => !canonical.includes(JSON.stringify(wanted).slice(1, -1)))
    return text === undefined ? undefined : `the canonical form has no ${text.slice(0, 80)}`
  } catch (error) {
    if (isAppError(error)) return error.message
    throw error
  }
}

/** Without values that mean the same as their absence. */
function withoutNeutral(body: unknown): unknown {
  const kept = structuredClone(body) as Record<string, unknown>
  for (const name of ['top_k', 'top_p']) if (kept[name] === -1) delete kept[name]
  if (kept.stream === false) delete kept.stream
  if (Array.isArray(kept.tools) && kept.tools.length === 0) delete kept.tools
  if (kept.tools === undefined) delete kept.tool_choice
  return JSON.parse(JSON.stringify(kept, (_name, value: unknown) => value ?? undefined))
}

function firstDifference(wanted: unknown, found: unknown, at: string): string | undefined {
  if (Object.is(wanted, found)) return undefined
  if (typeof wanted !== 'object' || typeof found !== 'object' || wanted === null || found === null) return at || '.'
  const names = new Set([...Object.keys(wanted), ...Object.keys(found)])
  for (const name of names) {
    const inner = firstDifference(Reflect.get(wanted, name), Reflect.get(found, name), `${at}.${name}`)
    if (inner !== undefined) return inner
  }
  return undefined
}

/** Texts, names and ids that every provider must receive. */
function textsOf(body: Record<string, unknown>): string[] {
  const texts: string[] = []
  const walk = (value: unknown) => {
    if (Array.isArray(value)) return value.forEach(walk)
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== 'string') walk(member)
      else if (['text', 'data', 'url', 'id', 'tool_use_id', 'title'].includes(name)) texts.push(member)
      else if (name === 'content') texts.push(member)
    }
  }
  walk(body.system)
  walk(body.messages)
  return texts
}

test.skipIf(!hasClientBodies)('bodies that clients of the Messages API send arrive with nothing dropped', () => {
  const bodies = readClientBodies(['messages'])
  const faults = bodies.flatMap((recorded) => {
    const why = fault(recorded)
    return why === undefined ? [] : [{ repo: recorded.repo, id: recorded.id, why }]
  })
  const byRepo = Object.groupBy(bodies, ({ repo }) => repo)
  const report = Object.entries(byRepo).map(([repo, of]) => {
    const failed = faults.filter((entry) => entry.repo === repo)
    return `${repo}: ${of!.length - failed.length} of ${of!.length} ${failed.map(({ id, why }) => `${id}: ${why}`).join('; ')}`
  })
  process.stdout.write(`${report.join('\n')}\n`)
  expect(bodies.length).toBeGreaterThan(0)
  expect(1 - faults.length / bodies.length, report.join('\n')).toBeGreaterThanOrEqual(leastShare)
})
