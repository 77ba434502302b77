import { describe, expect, test } from 'vitest'
import { sharedDataFolder } from '../../harness/shared-data.ts'
import { readWireIndex } from '../wire-index.ts'
import { callTable } from './call-table.ts'
import { canonicalBody } from './canonical-body.ts'
import { checkCall, checkRecordedBody, type RecordedBody } from './check-request.ts'
import { checkOwnRequests, checkRecordedRequests, problemsOf, staleEntries } from './check-requests.ts'
import { ourBody } from './our-body.ts'
import { readBody } from './read-body.ts'
import { outcomeOf } from './requests-report.ts'
import { suggestEntries } from './suggest-entries.ts'
import { writtenBodies } from './written-bodies.ts'

const shared = sharedDataFolder('wire')
const ids = [...new Set(callTable.map(({ settings }) => settings.id))]

describe.skipIf(!shared)(
  shared ? 'the shared requests' : 'the shared requests (skipped: shared data not found)',
  () => {
    test('each equals our request for the same call and the AI SDK’s, except for known differences', async () => {
      const recorded = await checkRecordedRequests(readWireIndex(shared!))
      expect(recorded.length).toBeGreaterThan(100)
      expect(recorded.flatMap((result) => problemsOf(result).map((line) => `${result.id}: ${line}`))).toEqual([])
    })

    test('every known difference still occurs', async () => {
      const recorded = await checkRecordedRequests(readWireIndex(shared!))
      const stale = staleEntries({ recorded, ...(await checkOwnRequests()) })
      expect(stale.map(({ paths, reason }) => `${paths.join(', ')}: ${reason}`)).toEqual([])
    })
  },
)

describe('the table of calls', () => {
  test.each(ids)('%s equals the AI SDK’s request, except for known differences', async (id) => {
    for (const { id: name, settings, call } of callTable.filter((entry) => entry.settings.id === id)) {
      expect(problemsOf(await checkCall(name, settings, call)), name).toEqual([])
    }
  })

  test('our body can be read back into a call with the same body', () => {
    for (const { id, settings, call } of callTable) {
      const { format } = settings
      const { body, wireModel } = ourBody(settings, call)!
      const canonical = canonicalBody(format, body)
      const temperatureFactor =
        ['anthropic', 'bedrock', 'cohere'].includes(format) || halves.includes(settings.id) ? 0.5 : 1
      const context = { format, kind: call.kind, model: wireModel.id, stream: body.stream === true, temperatureFactor }
      const read = readBody(canonical, { ...context, penaltyFactor: format === 'cohere' ? 0.5 : 1 })
      // A budget of thinking tokens matches several efforts.
      if (read.notOffered.length > 0)
        expect(read.notOffered, id).toEqual(['generationConfig.thinkingConfig.thinkingBudget'])
      else expect(canonicalBody(format, ourBody(settings, read.call)!.body), id).toEqual(canonical)
    }
  })
})

/** Hosts of OpenAI's family with temperatures up to 1. */
const halves = ['mistral', 'moonshotai']

describe('bodies in the style of other clients', () => {
  test.each(writtenBodies.map((body) => [body.id, body] as const))(
    '%s is what we send, but for known differences',
    async (_id, body) => {
      const result = await checkRecordedBody(body)
      expect(problemsOf(result)).toEqual([])
      expect(result.against).toContain('recorded')
    },
  )

  test('fields that Portico does not offer are reported, and the request does not count as passed', async () => {
    const result = await checkRecordedBody(bodyOf('openai/image'))
    expect(result.notOffered).toEqual(['messages[].content', 'response_format', 'tool_choice', 'tools'])
    expect(outcomeOf(result)).toBe('in part')
  })
})

describe('an unlisted difference', () => {
  const body = bodyOf('openai/developer')
  const { settings } = body

  test.each<[string, RecordedBody]>([
    ['another name of the cap', { ...body, settings: { ...settings, quirks: { capField: 'max_tokens' } } }],
    ['another role of instructions', { ...body, settings: { ...settings, quirks: { systemRole: 'system' } } }],
  ])('%s fails, and is suggested for the list', async (_what, changed) => {
    const result = await checkRecordedBody(changed)
    expect(problemsOf(result)).not.toEqual([])
    expect(suggestEntries([result])[0]).toContain("hosts: ['openai']")
  })

  test('a temperature on another scale fails', async () => {
    const call = callTable.find(({ id }) => id === 'anthropic/claude-sonnet-4-5/temperature')!
    const scaled = { ...call.settings, quirks: { temperatureFactor: 0.3 } }
    expect(problemsOf(await checkCall(call.id, scaled, call.call))).toHaveLength(1)
  })
})

function bodyOf(id: string): RecordedBody {
  return writtenBodies.find((body) => body.id === id)!
}
