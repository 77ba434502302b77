import type { Organisation } from '../../../tenants/organisations/index.ts'
import { type ProviderErrorClass, ProviderError } from '../../providers/index.ts'
import type { Deployment } from '../catalogue.ts'
import { freeSchedule } from '../price-lists.ts'
import type { PriceSnapshot } from '../price-snapshot.ts'

export function testOrganisation(fields: Partial<Organisation> = {}): Organisation {
  return {
    id: '00000000-0000-7000-8000-000000000001' as Organisation['id'],
    name: 'Test',
    plan: 'enterprise',
    subscription: { status: 'active', startsAt: 0, endsAt: null },
    gatewayEnabled: true,
    gatewayOptIn: true,
    monthlyBudgetPicoUsd: 0n,
    markupBasisPoints: 0,
    timeZone: 'UTC',
    periodAnchorDay: 1,
    disabledModels: [],
    limits: { concurrentCalls: 256, requestsPerMinute: null, tokensPerMinute: null, concurrentUploads: 16 },
    recordUsageTags: true,
    webhookUrl: null,
    webhookVersion: null,
    createdAt: 0,
    ...fields,
  }
}

export function testDeployment(id: string, fields: Partial<Deployment> = {}): Deployment {
  return {
    id,
    providerId: id,
    wire: { id, baseModel: id, acceptsTemperature: true, reasoning: false, maxOutputTokens: 1000 },
    hosting: 'us',
    side: 'other',
    region: null,
    weight: 1,
    prices: [freeSchedule('test')],
    ...fields,
  }
}

/** A snapshot small enough to reason about. */
export const testSnapshot: PriceSnapshot = {
  date: '2026-08-01',
  licence: '',
  sources: [],
  rules: [],
  lists: {
    openai: {
      ownedBy: 'openai',
      models: [
        {
          id: 'big',
          aliases: ['big-2026'],
          contextTokens: 200_000,
          maxOutputTokens: 32_000,
          released: '2026-01-02',
          reasoningModel: true,
          temperature: false,
          input: '0.000003',
          output: '0.000015',
          cacheRead: '0.0000003',
          steps: [{ above: 100_000, input: '0.000006', output: '0.00003' }],
          later: [{ date: '2126-12-01', input: '0.000004', output: '0.00002' }],
        },
        { id: 'small', contextTokens: 8000, maxOutputTokens: 4000, input: '0.0000001', output: '0.0000004' },
        {
          id: 'old',
          contextTokens: 8000,
          maxOutputTokens: 4000,
          retires: '2026-11-30',
          input: '0.000001',
          output: '0.000005',
        },
        {
          id: 'vectors',
          kind: 'embedding',
          contextTokens: 8000,
          maxOutputTokens: 0,
          dimensions: 256,
          input: '0.00000002',
          output: '0',
        },
      ],
    },
    'azure-eu': {
      ownedBy: 'openai',
      models: [{ id: 'big', contextTokens: 200_000, maxOutputTokens: 32_000, input: '0.0000033', output: '0.0000165' }],
    },
  },
}

export function providerError(
  errorClass: ProviderErrorClass,
  fields: Partial<ConstructorParameters<typeof ProviderError>[2]> = {},
): ProviderError {
  return new ProviderError(errorClass, `it was ${errorClass}`, { retryable: true, ...fields })
}

/** The error that Node reports for a refused connection; no byte was sent. */
export function connectRefused(): ProviderError {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
  return providerError('connection', { cause: new Error('fetch failed', { cause }) })
}
