import { expect, test } from 'vitest'
import type { OrganisationId, RequestId, SpaceId } from '../../platform/kernel/index.ts'
import { encodeEntry, encodeHold } from './ledger-rows.ts'

const organisationId = '0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee' as OrganisationId
const strange = `quote " backslash \\ line\n nul \0 half \ud800 ü € 😀`
const stored = 'quote " backslash \\ line\n nul  half \ufffd ü € 😀'

test('a hold is JSON with the names of its columns, whatever its texts contain', () => {
  const startedAt = Date.parse('2026-11-22T08:09:10.011Z')
  const hold = {
    requestId: 'req_"1' as RequestId,
    organisationId,
    period: '2026-11-01',
    amountPicoUsd: 12_345_678_901_234_567n,
    surface: 'gateway' as const,
    spaceId: null,
    model: strange,
    startedAt,
    promptTokens: 7,
    outputTokens: 0,
    inputAttoUsd: 1n,
    outputAttoUsd: 0n,
    priceSource: 'x'.repeat(600),
    markupBasisPoints: 10,
  }
  for (let time = 0; time < 2; time += 1) {
    expect(JSON.parse(encodeHold(hold))).toEqual({
      request_id: 'req_"1',
      organisation_id: organisationId,
      period: '2026-11-01',
      amount_pico_usd: '12345678901234567',
      surface: 'gateway',
      model: stored,
      started_at: '2026-11-22T08:09:10.011Z',
      prompt_tokens: 7,
      output_tokens: 0,
      input_atto_usd: '1',
      output_atto_usd: '0',
      price_source: 'x'.repeat(500),
      markup_basis_points: 10,
    })
  }
})

test('an entry is JSON with the names of its columns, and its times are exact across seconds', () => {
  const settledAt = Date.parse('2026-11-22T08:09:11.000Z')
  const receipt = {
    requestId: 'req_2' as RequestId,
    organisationId,
    surface: 'space_chat' as const,
    spaceId: organisationId as string as SpaceId,
    model: 'm',
    deploymentId: null,
    providerId: strange,
    hosting: null,
    startedAt: settledAt - 1,
    settledAt,
    period: '2026-11-01',
    usage: { promptTokens: 1, completionTokens: 2, cachedTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5 },
    unitPrices: { input: 1n, output: 2n, cacheRead: 3n, cacheWrite: 4n, reasoning: 5n },
    priceSource: 's',
    costBasis: 'stated' as const,
    rawUsage: { 'billed "units"': 1.5 },
    toolUses: [{ kind: 'web_search' as const, uses: 2, attoUsdPerUse: 10n ** 16n }],
    baseCostPicoUsd: 9n,
    markupBasisPoints: 0,
    billedPicoUsd: 9n,
    writtenOffPicoUsd: 0n,
    estimated: true,
    ending: 'completed',
    finishReason: 'stop',
    firstTokenMs: 12,
    failure: null,
    schemaMismatch: 'additionalProperties',
  }
  const { usage, unitPrices, ...fields } = JSON.parse(
    encodeEntry({ receipt, statedAttoUsd: 10n ** 20n, tags: { user: 'ü' } }),
  ) as Record<string, unknown>
  expect({ usage, unitPrices }).toEqual({ usage: undefined, unitPrices: undefined })
  expect(fields).toMatchObject({
    space_id: organisationId,
    provider_id: stored,
    started_at: '2026-11-22T08:09:10.999Z',
    settled_at: '2026-11-22T08:09:11.000Z',
    cache_write_tokens: 4,
    reasoning_atto_usd: '5',
    stated_atto_usd: '100000000000000000000',
    raw_usage: { 'billed "units"': 1.5 },
    tool_uses: [['web_search', 2, '10000000000000000']],
    estimated: true,
    first_token_ms: 12,
    schema_mismatch: 'additionalProperties',
    tags: { user: 'ü' },
  })
  // A failure of null is left out.
  expect(Object.keys(fields)).toHaveLength(35)
})
