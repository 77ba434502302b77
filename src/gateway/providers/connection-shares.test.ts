import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createConnectionShares } from './connection-shares.ts'

const never = new AbortController().signal

describe('shares of connections', () => {
  it('give one organisation half of the connections; its next call is rejected with share_exhausted', async () => {
    const { enter } = createConnectionShares(8)
    for (let call = 0; call < 4; call++) await enter('a', never)
    const waiting = Array.from({ length: 4 }, () => enter('a', AbortSignal.timeout(60_000)))
    for (const one of waiting) one.catch(() => {})
    await expect(enter('a', never)).rejects.toMatchObject({ errorClass: 'share_exhausted', retryAfterSeconds: 1 })
    await enter('b', never)
    await enter('c', never)
  })

  it('give a released connection to the organisation that has the fewest', async () => {
    const { enter } = createConnectionShares(4)
    const leaves = [await enter('a', never), await enter('a', never)]
    const leaveB = await enter('b', never)
    const order: string[] = []
    const waiting = ['a', 'b', 'c'].map((tenant) => enter(tenant, never).then(() => order.push(tenant)))
    await Promise.resolve()
    // c has no connection, so it gets the fourth at once.
    await waiting[2]
    expect(order).toEqual(['c'])
    leaveB()
    await waiting[1]
    expect(order).toEqual(['c', 'b'])
    leaves[0]!()
    leaves[1]!()
    await waiting[0]
  })

  it('remove a waiting call when it is cancelled', async () => {
    const { enter } = createConnectionShares(2)
    const leave = await enter('a', never)
    const cancelled = new AbortController()
    const waiting = enter('a', cancelled.signal)
    const next = enter('a', never).catch((error: unknown) => error)
    cancelled.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    expect(await next).toMatchObject({ errorClass: 'share_exhausted' })
    leave()
    await enter('a', never)
  })

  it('never exceed the total, nor half for one organisation, in any order of calls', async () => {
    const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean(), fc.nat(20))
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 60 }), async (total, steps) => {
        const { enter } = createConnectionShares(total)
        const stop = new AbortController()
        const held: { tenant: string; leave: () => void }[] = []
        for (const [tenant, isEntry, which] of steps) {
          if (isEntry) {
            enter(tenant, stop.signal).then(
              (leave) => held.push({ tenant, leave }),
              () => {},
            )
          } else held.splice(which % Math.max(1, held.length), 1)[0]?.leave()
          await new Promise(setImmediate)
          expect(held.length).toBeLessThanOrEqual(total)
          for (const one of ['a', 'b', 'c'])
            expect(held.filter((entry) => entry.tenant === one).length).toBeLessThanOrEqual(Math.ceil(total / 2))
        }
        for (const { leave } of held.splice(0)) leave()
        stop.abort()
        await new Promise(setImmediate)
        for (const { leave } of held.splice(0)) leave()
        // No connection was lost: half of them can be taken again.
        for (let index = 0; index < Math.ceil(total / 2); index++) await enter('a', never)
      }),
      { numRuns: 60 },
    )
  })
})
