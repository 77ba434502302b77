/**
 * What the ledger costs: calls per second and added latency with the ledger on and off, in one run:
 * `npm run bench:ledger [-- --seconds N]`. Off is the same loop around a ledger that only answers. Embedded engine, or the server
 * that PORTICO_TEST_DATABASE_URL names.
 */
import { parseArgs } from 'node:util'
import { createLedger, type Hold, type HoldRequest } from '../src/billing/index.ts'
import { answered, callOf, organisationWith } from '../src/billing/testing/ledger-fixture.ts'
import { silentLog, systemClock } from '../src/kernel/index.ts'
import { openTestDatabases } from '../test/harness/database.ts'
import { prepareTemplate } from '../test/harness/database-template.ts'

const crowds = [1, 16, 64, 256]
const organisationCount = 20

const unaccounted = {
  durable: Promise.resolve(),
  outputCapTokens: null,
  capReduced: false,
  grant: () => true as const,
  settle: () => Promise.resolve(undefined as never),
} as unknown as Hold

interface Measured {
  callsPerSecond: number
  durableMs: number[]
  settleMs: number[]
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '3' } } })
const removeTemplate = await prepareTemplate()
const databases = await openTestDatabases()
const ledger = await createLedger({ database: databases.control, clock: systemClock, log: silentLog })
const organisations = Array.from({ length: organisationCount }, () => organisationWith('1000000'))

console.log(`engine ${databases.control.engine} ${databases.control.features.serverVersion}, ${values.seconds} s each`)
console.log('calls at once | ledger | calls/s | hold durable p50 / p99 ms | settle p50 / p99 ms')
for (const crowd of crowds) {
  const off = await measure(crowd, () => Promise.resolve(unaccounted))
  const on = await measure(crowd, (request) => ledger.hold(request))
  for (const [name, measured] of [['off', off] as const, ['on', on] as const]) {
    console.log(
      [
        String(crowd).padStart(13),
        name.padEnd(6),
        String(Math.round(measured.callsPerSecond)).padStart(7),
        spread(measured.durableMs).padStart(25),
        spread(measured.settleMs).padStart(19),
      ].join(' | '),
    )
  }
}
const { ok, totals } = await ledger.audit()
console.log(`audit: ${ok ? 'everything adds up' : 'FINDINGS'}, ${totals.entries} entries`)
await ledger.close()
await databases.drop()
await removeTemplate()
process.exitCode = ok ? 0 : 1

async function measure(crowd: number, hold: (request: HoldRequest) => Promise<Hold>): Promise<Measured> {
  const durableMs: number[] = []
  const settleMs: number[] = []
  const startMs = performance.now()
  const endMs = startMs + Number(values.seconds) * 1000
  await Promise.all(
    Array.from({ length: crowd }, async (_, index) => {
      const organisation = organisations[index % organisationCount]!
      while (performance.now() < endMs) {
        const beganMs = performance.now()
        const held = await hold(callOf(organisation, { outputCapTokens: 500 }))
        await held.durable
        durableMs.push(performance.now() - beganMs)
        const answeredMs = performance.now()
        await held.settle(answered(90, 40))
        settleMs.push(performance.now() - answeredMs)
        // The off loop would otherwise never let a timer run.
        if (held === unaccounted) await new Promise((resolve) => setImmediate(resolve))
      }
    }),
  )
  return { callsPerSecond: settleMs.length / ((performance.now() - startMs) / 1000), durableMs, settleMs }
}

function spread(samples: number[]): string {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(2)
  return `${at(0.5)} / ${at(0.99)}`
}
