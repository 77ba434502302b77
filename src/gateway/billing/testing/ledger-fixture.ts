/** Organisations, calls and clocks for the tests, the proof and the bench of this room. */
import {
  type Clock,
  createOrganisationId,
  createRequestId,
  parseAttoUsd,
  parsePicoUsd,
  systemClock,
  type TokenCounts,
} from '../../../platform/kernel/index.ts'
import type { TestDatabase } from '../../../../test/harness/statements.ts'
import type { Organisation } from '../../../tenants/organisations/index.ts'
import type { HoldRequest, Outcome } from '../port.ts'
import type { PriceSchedule } from '../prices.ts'

/** Dollars per million tokens, as price lists write them. */
export function perMillion(input: number, output: number): PriceSchedule {
  return {
    source: 'fixture 2026-11-01',
    validFrom: 0,
    base: { input: parseAttoUsd(input) / 1_000_000n, output: parseAttoUsd(output) / 1_000_000n },
    contextSteps: [],
  }
}

export function organisationWith(budgetUsd: string, changes: Partial<Organisation> = {}): Organisation {
  return {
    id: createOrganisationId(),
    name: 'Acme',
    plan: 'enterprise',
    subscription: { status: 'active', startsAt: 0, endsAt: null },
    gatewayEnabled: true,
    gatewayOptIn: true,
    monthlyBudgetPicoUsd: parsePicoUsd(budgetUsd),
    markupBasisPoints: 0,
    timeZone: 'Europe/Berlin',
    periodAnchorDay: 1,
    disabledModels: [],
    limits: { concurrentCalls: 256, requestsPerMinute: null, tokensPerMinute: null, concurrentUploads: 16 },
    recordUsageTags: true,
    webhookUrl: null,
    webhookVersion: null,
    createdAt: 0,
    ...changes,
  }
}

/** The organisation's row, from which usage reports read the time zone. */
export async function insertOrganisation(database: TestDatabase, { id, timeZone }: Organisation): Promise<void> {
  await database.execute(
    `insert into organisations (id, name, plan, subscription_status, subscription_starts_at, gateway_enabled, gateway_opt_in,
       monthly_budget_pico_usd, markup_basis_points, time_zone, period_anchor_day, disabled_models, created_at, updated_at)
     values ($1, 'Acme', 'enterprise', 'active', now(), true, true, 0, 0, $2, 1, '{}', now(), now())`,
    [id, timeZone],
  )
}

/** 1 dollar per million prompt tokens, 10 per million output tokens: a token of output costs 10 millionths of a dollar. */
export const fixturePrices = perMillion(1, 10)

export function callOf(organisation: Organisation, changes: Partial<HoldRequest> = {}): HoldRequest {
  return {
    requestId: createRequestId(),
    organisation,
    surface: 'gateway',
    spaceId: null,
    model: 'fixture-model',
    candidates: [{ deploymentId: 'fixture-deployment', prices: [fixturePrices] }],
    promptTokensBound: 100,
    promptTokensEstimate: 80,
    outputCapTokens: null,
    modelMaxOutputTokens: 16_384,
    stream: false,
    signal: new AbortController().signal,
    ...changes,
  }
}

export function usageOf(promptTokens: number, completionTokens: number): TokenCounts {
  return { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
}

export function answered(
  promptTokens: number,
  completionTokens: number,
  changes: Partial<Extract<Outcome, { kind: 'answered' }>> = {},
): Outcome {
  return {
    kind: 'answered',
    ending: 'completed',
    deploymentId: 'fixture-deployment',
    providerId: 'fixture-provider',
    hosting: 'eu',
    usage: usageOf(promptTokens, completionTokens),
    estimated: false,
    finishReason: 'stop',
    ...changes,
  }
}

/** A clock with a fixed wall time and real durations, because the database answers in real time. */
export function movableClock(startMs: number): Clock & { set(atMs: number): void } {
  let nowMs = startMs
  return {
    ...systemClock,
    now: () => nowMs,
    set(atMs) {
      nowMs = atMs
    },
  }
}

/** A clock with real durations on which more time can pass at once. */
export function skippingClock(): Clock & { pass(ms: number): void } {
  let passedMs = 0
  const tasks = new Set<() => void>()
  return {
    ...systemClock,
    monotonicMs: () => performance.now() + passedMs,
    sleep: (_ms, signal) => systemClock.sleep(1, signal),
    every(_ms, task) {
      tasks.add(task)
      return () => tasks.delete(task)
    },
    pass(ms) {
      passedMs += ms
      for (const task of tasks) task()
    },
  }
}
