import { describe, expect, test } from 'vitest'
import { hasClientBodies, readClientBodies } from '../../../../test/harness/client-bodies.ts'
import { textOfContent, partsOf } from '../../conversation/index.ts'
import type { ProviderRequest } from '../../providers/index.ts'
import { parseResponses, type ParsedResponses } from './parse-request.ts'

/** Bodies that test suites of public projects have sent to the Responses API. */

const title = hasClientBodies ? 'the recorded bodies' : 'the recorded bodies (skipped: shared/data/clients is missing)'

/** Fields that ask for nothing that an answer could lack. */
const harmless = new Set(['service_tier', 'parallel_tool_calls'])

describe.skipIf(!hasClientBodies)(title, () => {
  const bodies = readClientBodies(['responses'])

  test('are read without losing a text, a call, a tool or a file', async ({ annotate }) => {
    const failures: string[] = []
    const perRepo = new Map<string, { all: number; read: number }>()
    for (const { repo, body } of bodies) {
      const counts = perRepo.get(repo) ?? { all: 0, read: 0 }
      perRepo.set(repo, counts)
      counts.all++
      const problem = problemOf(body)
      if (problem === null) counts.read++
      else failures.push(`${repo}: ${problem}`)
    }
    for (const [repo, { all, read }] of perRepo) await annotate(`${repo}: ${read} of ${all}`)
    expect(bodies.length).toBeGreaterThan(200)
    expect(failures.length / bodies.length, failures.join('\n')).toBeLessThanOrEqual(0.03)
  })
})

function problemOf(body: Record<string, unknown>): string | null {
  let parsed: ParsedResponses
  try {
    parsed = parseResponses(structuredClone(body))
  } catch (error) {
    return String(error)
  }
  const dropped = [...parsed.ignored, ...parsed.adjusted].filter((name) => !harmless.has(name))
  if (dropped.length > 0) return `leaves out ${dropped.join(', ')}`
  const lost = contentsOf(body).filter((text) => !textsOfRequest(parsed.request).includes(text))
  return lost.length === 0 ? null : `loses ${lost[0]!.slice(0, 100)}`
}

/** Every text that the model must see. */
function contentsOf({ input, instructions, tools, text }: Record<string, unknown>): string[] {
  const found: string[] = []
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (seenByModel.has(name) && typeof member === 'string') found.push(member)
      else if (name === 'parameters' || name === 'schema') found.push(JSON.stringify(member))
      else collect(member)
    }
  }
  collect({ text: input, content: instructions })
  collect(input)
  collect(tools)
  collect(text)
  return found
}

const seenByModel = new Set([
  'text',
  'content',
  'arguments',
  'output',
  'call_id',
  'name',
  'description',
  'file_url',
  'filename',
])

function textsOfRequest({ messages, tools = [], responseFormat }: ProviderRequest): string {
  const texts = messages.flatMap(({ content, toolCalls = [], toolCallId }) => [
    String(textOfContent(content)),
    ...partsOf(content).map((part) => ('source' in part ? JSON.stringify(part) : '')),
    ...toolCalls.flatMap((call) => [call.id, call.name, call.argumentsJson]),
    toolCallId ?? '',
  ])
  const definitions = [...tools, ...(responseFormat?.type === 'json_schema' ? [responseFormat] : [])]
  for (const tool of definitions) {
    const { name, description = '', ...rest } = tool
    texts.push(name, description, JSON.stringify('schema' in rest ? rest.schema : rest.parameters))
  }
  return texts.join('\n')
}
