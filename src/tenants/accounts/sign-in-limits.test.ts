import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { clientNetwork, isAppError } from '../../platform/kernel/index.ts'
import { createAttemptStore } from './attempts.store.ts'
import { createSignInLimits, type Visitor } from './sign-in-limits.ts'

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

const clock = createFakeClock()
const openInstance = () => createSignInLimits({ store: createAttemptStore(databases.control), clock })
const at = (address: string): Visitor => ({
  network: clientNetwork(address),
  person: undefined,
  challenged: undefined,
  device: undefined,
})

/** How many of the attempts are allowed. */
async function allowed(attempts: Promise<unknown>[]): Promise<number> {
  const outcomes = await Promise.all(
    attempts.map((attempt) =>
      attempt.then(
        () => true,
        (error: unknown) => {
          if (isAppError(error, 'rate_limit_exceeded')) return false
          throw error
        },
      ),
    ),
  )
  return outcomes.filter(Boolean).length
}

describe('guesses of a password', () => {
  test('are limited for one e-mail, from however many addresses and instances they come', async () => {
    const instances = [openInstance(), openInstance()]
    const guesses = Array.from({ length: 150 }, (_, index) =>
      instances[index % 2]!.countSecret('password', 'wide@example.org', at(`203.0.113.${index % 15}`)),
    )
    expect(await allowed(guesses)).toBe(100)
    const other = instances[0]!.countSecret('password', 'other@example.org', at('203.0.113.1'))
    expect(await allowed([other])).toBe(1)
  })

  test('count as one for all spellings of an address and for a /64', async () => {
    const limits = openInstance()
    const guesses = Array.from({ length: 30 }, (_, index) =>
      limits.countSecret(
        'password',
        'spelt@example.org',
        at(['2001:db8:0:7::1', `2001:0DB8::7:0:0:0:${index}`][index % 2]!),
      ),
    )
    expect(await allowed(guesses)).toBe(10)
  })

  test('are free again after their window, and a right one is never counted', async () => {
    const limits = openInstance()
    const guess = () => limits.countSecret('password', 'window@example.org', at('192.0.2.1'))
    for (let index = 0; index < 30; index++) await (await guess())()
    expect(await allowed(Array.from({ length: 12 }, guess))).toBe(10)
    clock.jump(15 * 60_000)
    expect(await allowed(Array.from({ length: 12 }, guess))).toBe(10)
  })

  test('of an e-mail that contains an address do not count for another e-mail', async () => {
    const limits = openInstance()
    const odd = ['odd@example.org","network","192.0.2.1', 'odd@example.org network 192.0.2.1']
    for (const email of odd)
      await allowed(Array.from({ length: 20 }, () => limits.countSecret('password', email, at('192.0.2.1'))))
    expect(await allowed([limits.countSecret('password', 'odd@example.org', at('192.0.2.1'))])).toBe(1)
  })
})

describe('requests', () => {
  test('and uses of links are limited for each network, whatever its spelling', async () => {
    const [here, there] = [openInstance(), openInstance()]
    const spellings = ['198.51.100.7', '::ffff:198.51.100.7', '::FFFF:c633:6407', '198.51.100.7:5000']
    const requests = Array.from({ length: 1040 }, (_, index) =>
      (index % 2 === 0 ? here : there).countRequest(at(spellings[index % 4]!)),
    )
    expect(await allowed(requests)).toBe(1000)
    const links = Array.from({ length: 1040 }, (_, index) =>
      (index % 2 === 0 ? here : there).countLink('invitation', spellings[index % 4]!),
    )
    expect(await allowed(links)).toBe(1000)
    expect(await allowed([here.countLink('password reset', spellings[0]!)])).toBe(1)
  })

  test('from elsewhere behind the same proxy do not use up the limit of a known device', async () => {
    const limits = openInstance()
    const proxy = at('198.51.100.80')
    expect(await allowed(Array.from({ length: 1010 }, () => limits.countRequest(proxy)))).toBe(1000)
    expect(await allowed([limits.countRequest({ ...proxy, device: 'own' })])).toBe(1)
  })
})
