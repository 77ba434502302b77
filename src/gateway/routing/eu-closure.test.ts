import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { silentLog } from '../../platform/kernel/index.ts'
import type { ProviderErrorClass } from '../providers/index.ts'
import { buildCatalogue } from '../models/build-catalogue.ts'
import type { Deployment } from '../models/catalogue.ts'
import { type Declarations, noDeclarations } from '../models/declarations.ts'
import { listModels, resolveModel } from '../models/create-catalogue.ts'
import { freeSchedule } from '../models/price-lists.ts'
import { createRouter } from './router.ts'
import { providerError, testOrganisation, testSnapshot } from '../models/testing/catalogue-fixture.ts'

/** The guarantee of `eu/`, for random declarations, failures and random choices. */

const runs = { numRuns: 300, seed: 20_261_121 }
const modelIds = ['m', 'n', 'big', 'eu', 'eux/m']
/** Valid names, names that resemble the EU, and none. */
const hosting = fc.constantFrom(
  'eu',
  'us',
  'global',
  'local',
  'ch',
  'EU',
  'eu-west-1',
  'europe',
  'Eu',
  ' eu',
  '',
  'e u',
)
const errorClass = fc.constantFrom<ProviderErrorClass | 'answer'>(
  'answer',
  'authentication',
  'rate_limit',
  'quota',
  'overloaded',
  'server_error',
  'connection',
  'timeout',
  'invalid_request',
  'model_not_found',
)

const deployment = fc.record({
  model: fc.constantFrom(...modelIds),
  provider: fc.constantFrom('p', 'q', 'r'),
  hosting: fc.option(hosting, { nil: undefined }),
  weight: fc.constantFrom(0.001, 1, 5, 1e6),
  enabled: fc.boolean(),
})
const declared = fc.record({
  providerHosting: fc.record({ p: hosting, q: hosting, r: hosting }),
  configured: fc.array(deployment, { maxLength: 8 }),
  /** Changes at run time: they override the hosting of existing deployments. */
  changed: fc.array(fc.record({ index: fc.nat(7), hosting }), { maxLength: 4 }),
})

function toDeclarations(world: World): Declarations[] {
  const configuration: Declarations = {
    ...noDeclarations,
    origin: 'configuration',
    providers: (['p', 'q', 'r'] as const).map((id) => ({
      settings: { id, format: 'openai' as const, baseUrl: `http://${id}.test` },
      enabled: true,
      hosting: world.providerHosting[id],
      priceLists: id === 'q' ? ['openai'] : [],
      models: id === 'q' ? ('snapshot' as const) : ('declared' as const),
    })),
    models: [{ id: 'm', aliases: ['alias', 'eu'] }],
    deployments: world.configured.map((one, index) => ({
      id: `d${index}`,
      modelId: one.model,
      providerId: one.provider,
      weight: one.weight,
      enabled: one.enabled,
      prices: freeSchedule('test'),
      ...(one.hosting === undefined ? {} : { hosting: one.hosting }),
    })),
  }
  const operator: Declarations = {
    ...noDeclarations,
    origin: 'operator',
    deployments: world.changed
      .filter(({ index }) => index < world.configured.length)
      .map(({ index, hosting }) => ({ id: `d${index}`, hosting }) as Declarations['deployments'][number]),
  }
  return [configuration, operator]
}

interface World {
  providerHosting: { p: string; q: string; r: string }
  configured: { model: string; provider: string; hosting: string | undefined; weight: number; enabled: boolean }[]
  changed: { index: number; hosting: string }[]
}

test('an eu/ call never leaves the EU and another call never enters it, for any declaration, failure or weight', async () => {
  await fc.assert(
    fc.asyncProperty(
      declared,
      fc.array(
        fc.record({
          requested: fc.constantFrom(
            'm',
            'eu/m',
            'n',
            'eu/n',
            'big',
            'eu/big',
            'alias',
            'eu/alias',
            'eu',
            'eu/eu',
            'eu/eu/m',
            'eux/m',
            'big-2026',
            'eu/big-2026',
          ),
          random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
          outcomes: fc.array(errorClass, { minLength: 6, maxLength: 6 }),
        }),
        { minLength: 1, maxLength: 12 },
      ),
      async (world, calls) => {
        const clock = createFakeClock()
        const catalogue = buildCatalogue(testSnapshot, toDeclarations(world))
        let random = 0
        const router = createRouter({ clock, random: () => random, log: silentLog })
        for (const call of calls) {
          random = call.random
          const resolved = resolveModel(catalogue, testOrganisation(), call.requested, clock.now())
          if (!resolved) continue
          expect(resolved.eu).toBe(call.requested.startsWith('eu/'))
          const reached: Deployment[] = []
          const running = router
            .run({ candidates: resolved.deployments, signal: AbortSignal.timeout(60_000) }, async (candidate) => {
              const outcome = call.outcomes[reached.length] ?? 'answer'
              reached.push(candidate)
              if (outcome !== 'answer') throw providerError(outcome, { status: 500 })
              return 'hello'
            })
            .catch(() => {})
          for (let rounds = 0; rounds < 10; rounds++) await clock.advance(clock.nextMs() ?? 0)
          await running
          for (const candidate of reached) expect(candidate.hosting === 'eu').toBe(call.requested.startsWith('eu/'))
          for (const candidate of reached) expect(['eu', 'us', 'global', 'local', 'ch']).toContain(candidate.hosting)
        }
      },
    ),
    runs,
  )
})

test('the list contains exactly the ids that a call accepts', () => {
  fc.assert(
    fc.property(
      declared,
      fc.constantFrom('free', 'team', 'enterprise'),
      fc.subarray(modelIds),
      (world, plan, disabledModels) => {
        const catalogue = buildCatalogue(testSnapshot, toDeclarations(world))
        const organisation = testOrganisation({ plan: plan as 'free', disabledModels })
        const now = Date.UTC(2026, 10, 21)
        const listed = listModels(catalogue, organisation, now).map(({ id }) => id)
        const canonical = [...catalogue.models.keys()]
        const accepted = canonical
          .flatMap((id) => [id, `eu/${id}`])
          .filter((id) => resolveModel(catalogue, organisation, id, now)?.model.kind === 'chat')
        expect(listed.toSorted()).toEqual(accepted.toSorted())
        expect(new Set(listed).size).toBe(listed.length)
      },
    ),
    runs,
  )
})
