import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import type { OrganisationId } from '../../platform/kernel/index.ts'
import { createOrganisationLimiter } from './gate.ts'
import { defaultOrganisationLimits, type OrganisationLimits } from './organisation.ts'
import { makeOrganisation } from './organisation-change.ts'

const organisation = (id: string, limits: Partial<OrganisationLimits>) => ({
  ...makeOrganisation(id as OrganisationId, { name: id }, 0),
  limits: { ...defaultOrganisationLimits, ...limits },
})

describe('the limits of an organisation', () => {
  it('reject requests above the limit, for this organisation only, until a request ends', () => {
    const limiter = createOrganisationLimiter({ clock: createFakeClock() })
    const small = organisation('small', { concurrentCalls: 2, concurrentUploads: 1 })
    const first = limiter.enter(small, 'call')
    limiter.enter(small, 'call')
    expect(() => limiter.enter(small, 'call')).toThrow(
      expect.objectContaining({
        code: 'rate_limit_exceeded',
        retryAfterSeconds: 1,
        rateLimit: expect.objectContaining({ limit: 2, remaining: 0 }),
      }),
    )
    limiter.enter(small, 'upload')
    expect(() => limiter.enter(small, 'upload')).toThrow('1 uploads')
    limiter.enter(organisation('other', {}), 'call')
    first.leave()
    first.leave()
    limiter.enter(small, 'call')
    expect(() => limiter.enter(small, 'call')).toThrow('same time')
  })

  it('allow the configured requests per minute and refill evenly', async () => {
    const clock = createFakeClock()
    const limiter = createOrganisationLimiter({ clock })
    const limited = organisation('limited', { requestsPerMinute: 60 })
    const remaining = Array.from({ length: 60 }, () => {
      const entry = limiter.enter(limited, 'call')
      entry.leave()
      return entry.rates[0]?.remaining
    })
    expect(remaining[0]).toBe(59)
    expect(remaining.at(-1)).toBe(0)
    expect(() => limiter.enter(limited, 'call')).toThrow(
      expect.objectContaining({
        retryAfterSeconds: 1,
        rateLimit: { unit: 'requests', limit: 60, remaining: 0, resetSeconds: 60 },
      }),
    )
    await clock.advance(2_000)
    limiter.enter(limited, 'call')
    limiter.enter(limited, 'call')
    expect(() => limiter.enter(limited, 'call')).toThrow('60 requests a minute')
  })

  it('take the estimate of a prompt, and correct it by what the call has used', async () => {
    const clock = createFakeClock()
    const limiter = createOrganisationLimiter({ clock })
    const limited = organisation('limited', { tokensPerMinute: 6_000 })
    const taken = limiter.takeTokens(limited, 4_000, { refuse: true })
    expect(taken.rate).toEqual({ unit: 'tokens', limit: 6_000, remaining: 2_000, resetSeconds: 40 })
    expect(() => limiter.takeTokens(limited, 3_000, { refuse: true })).toThrow(
      expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterSeconds: 10 }),
    )
    taken.correct(1_000)
    taken.correct(0)
    expect(limiter.takeTokens(limited, 3_000, { refuse: true }).rate?.remaining).toBe(2_000)
    await clock.advance(10_000)
    expect(limiter.enter(limited, 'call').rates).toEqual([
      { unit: 'tokens', limit: 6_000, remaining: 3_000, resetSeconds: 30 },
    ])
  })

  it('reject new calls after a long answer, for a minute and not for longer', async () => {
    const clock = createFakeClock()
    const limiter = createOrganisationLimiter({ clock })
    const limited = organisation('limited', { tokensPerMinute: 6_000 })
    limiter.takeTokens(limited, 100, { refuse: true }).correct(1_000_000)
    expect(() => limiter.enter(limited, 'call')).toThrow(
      expect.objectContaining({
        retryAfterSeconds: expect.closeTo(60.01),
        rateLimit: { unit: 'tokens', limit: 6_000, remaining: 0, resetSeconds: 120 },
      }),
    )
    // The later calls of an answer that has begun.
    limiter.takeTokens(limited, 100, { refuse: false })
    await clock.advance(60_100)
    limiter.enter(limited, 'call')
  })

  it('reject a prompt that is longer than all tokens of a minute with its size', () => {
    const limiter = createOrganisationLimiter({ clock: createFakeClock() })
    const limited = organisation('limited', { tokensPerMinute: 1_000 })
    expect(() => limiter.takeTokens(limited, 1_001, { refuse: true })).toThrow(
      expect.objectContaining({ param: 'messages', message: expect.stringContaining('about 1001 tokens') }),
    )
  })

  it('begin with a whole minute when they are set', () => {
    const limiter = createOrganisationLimiter({ clock: createFakeClock() })
    limiter.enter(organisation('changed', {}), 'call')
    const { rates } = limiter.enter(organisation('changed', { requestsPerMinute: 10, tokensPerMinute: 500 }), 'call')
    expect(rates.map(({ unit, remaining }) => [unit, remaining])).toEqual([
      ['requests', 9],
      ['tokens', 500],
    ])
  })
})
