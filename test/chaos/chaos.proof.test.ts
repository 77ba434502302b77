import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testServerUrl } from '../harness/database.ts'
import { hasOwnPostgres } from '../harness/ledger-crash/own-postgres.ts'
import { hasPgBouncer } from '../harness/pgbouncer.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { faults } from './faults.ts'
import { hangsAfterMs } from './harness/instance.ts'
import { endAndCompare } from './harness/final-state.ts'
import { type ChaosStage, openStage } from './harness/stage.ts'
import { testSeed } from '../harness/seed.ts'

/** A service under load of every kind survives one fault after the other, in a random order. docs/understand/reliability.md lists what else is tested. */

const seed = testSeed
const isServer = testServerUrl() !== undefined
const engine = isServer ? 'server' : 'embedded'
const isPossible = process.platform === 'linux' && (!isServer || hasOwnPostgres())
const onServer = `two instances on PostgreSQL${hasPgBouncer ? ' behind PgBouncer' : ''}`
const title = isServer ? onServer : 'one instance with the embedded databases'
const reason = 'needs Linux; on PostgreSQL also the server that scripts/postgres-for-tests.sh installs'
const repeat = `PORTICO_TEST_SEED=${seed} ${isServer ? 'PORTICO_TEST_DATABASE_URL=$url ' : ''}npm test -- test/chaos`
const limits = { aFault: 3 * hangsAfterMs, theEnd: 4 * hangsAfterMs }

describe.skipIf(!isPossible)(isPossible ? `${title}, seed ${seed}` : `${title} (skipped: ${reason})`, () => {
  const random = seededRandom(seed)
  const drawn = faults
    .filter((fault) => fault.engine === undefined || fault.engine === engine)
    .map((fault) => ({ fault, at: random() }))
    .toSorted((one, other) => one.at - other.at)
  const done = new Set<string>()
  let stage: ChaosStage

  beforeAll(async () => {
    console.log(`chaos: ${title}; to repeat: ${repeat}`)
    stage = await openStage({ random })
    await stage.answersAgain()
  }, limits.aFault)
  afterAll(() => stage?.close())

  it.each(drawn.map(({ fault }) => [fault.name, fault] as const))(
    'answers again after %s, and the audit has no finding',
    async (name, fault) => {
      const cannot = fault.impossible?.(stage)
      if (cannot) {
        console.log(`chaos: ${name} is skipped: ${cannot}`)
        return
      }
      // Some load before it.
      await wait(500)
      await fault.inject(stage, random)
      done.add(name)
      const tookMs = await stage.answersAgain()
      stage.allowEnds(false)
      console.log(`chaos: ${name}: every instance answers after ${(tookMs / 1000).toFixed(1)} s`)
      expect(stage.instances.flatMap((instance) => instance.unexpectedEnds())).toEqual([])
      expect(await stage.audit()).toEqual([])
    },
    limits.aFault,
  )

  it(
    'has then billed every answer once, processed every accepted document, and left nothing open',
    async () => {
      const { found, figures } = await endAndCompare(stage)
      console.log(`chaos: ${title}, seed ${seed}`, figures)
      expect(found, repeat).toEqual([])
      if (done.has('kill -9 of an instance')) expect(figures['streams killed after some text']).toBeGreaterThan(0)
    },
    limits.theEnd,
  )
})
