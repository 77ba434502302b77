import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/harness/fake-clock.ts'
import type { OrganisationId } from '../kernel/index.ts'
import { createOrganisationLimiter } from './organisation-limiter.ts'
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
      return entry.rate?.remaining
    })
    expect(remaining[0]).toBe(59)
    expect(remaining.at(-1)).toBe(0)
    expect(() => limiter.enter(limited, 'call')).toThrow(
      expect.objectContaining({ retryAfterSeconds: 1, rateLimit: { limit: 60, remaining: 0, resetSeconds: 60 } }),
    )
    await clock.advance(2_000)
    limiter.enter(limited, 'call')
    limiter.enter(limited, 'call')
    expect(() => limiter.enter(limited, 'call')).toThrow('60 requests a minute')
  })
})
