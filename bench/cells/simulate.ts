import { createRandom } from '../../test/harness/random.ts'
import { type Assumptions, type Cell, costsOf, measured } from './plan.ts'

export type Failure = 'none' | 'instance' | 'failover' | 'cell'

/** Each call is one of: answered, refused (503), interrupted after it was admitted. */
export interface Outcome {
  offered: number
  answered: number
  /** Of the answered: those that waited for a second or more. */
  delayed: number
  refused: number
  interrupted: number
  /** Highest of a second, as a share of what is there. */
  instanceUtilisation: number
  databaseUtilisation: number
}

/** The failure happens after these seconds, and the load ends so long after its end. */
const calmSeconds = 60

/**
 * The calls of one cell in its busiest hour, second by second. What exceeds the processors waits, and what would wait longer than an instance
 * allows is refused. A call of one cell never reaches another one: the others have neither its key nor its data.
 */
export function simulateCell(cell: Cell, failure: Failure, given: Assumptions, seed: number): Outcome {
  const random = createRandom(seed)
  const outcome = { ...nothing }
  const endAt = calmSeconds + lastsSeconds(failure, given)
  const running: number[] = []
  let waiting = 0
  for (let second = 0; second < endAt + calmSeconds || waiting > 0; second++) {
    const fails = second >= calmSeconds && second < endAt
    const offered = second < endAt + calmSeconds ? drawCalls(cell.callsPerSecond, random) : 0
    const room = roomOf(cell, fails ? failure : 'none', given)
    if (fails && second === calmSeconds) outcome.interrupted += interrupt(running, lostShare(cell, failure))
    const admitted = Math.min(waiting + offered, room.calls)
    const left = waiting + offered - admitted
    const keeps = Math.min(left, Math.floor(room.calls * measured.longestQueueSeconds))
    outcome.offered += offered
    outcome.delayed += Math.min(admitted, waiting)
    outcome.refused += left - keeps
    waiting = keeps
    running.push(admitted)
    if (running.length > given.callSeconds) outcome.answered += running.shift()!
    outcome.instanceUtilisation = Math.max(outcome.instanceUtilisation, room.instanceUse(admitted))
    outcome.databaseUtilisation = Math.max(outcome.databaseUtilisation, room.databaseUse(admitted))
  }
  outcome.answered += running.reduce((sum, calls) => sum + calls, 0)
  return outcome
}

const nothing: Outcome = {
  offered: 0,
  answered: 0,
  delayed: 0,
  refused: 0,
  interrupted: 0,
  instanceUtilisation: 0,
  databaseUtilisation: 0,
}

function lastsSeconds(failure: Failure, given: Assumptions): number {
  if (failure === 'none') return 0
  if (failure === 'failover') return measured.failoverSeconds
  return failure === 'instance' ? given.replaceSeconds : given.restoreSeconds
}

/** Of the running calls. Those of a failover end: their instance has what it needs until the database is back. */
function lostShare({ instances }: Cell, failure: Failure): number {
  if (failure === 'cell') return 1
  return failure === 'instance' ? 1 / instances : 0
}

/** Calls that a second has room for, and the use of the processors by so many. Imports go first, so that the result is the worst. */
function roomOf(cell: Cell, failure: Failure, given: Assumptions) {
  const { call, background } = costsOf(cell, given)
  const instances = cell.instances - (failure === 'instance' ? 1 : 0)
  const [instanceMs, databaseMs] = [instances * 1000, cell.databaseVcpus * 1000]
  const isDown = failure === 'cell' || failure === 'failover'
  const calls = Math.min(
    (instanceMs - background.instanceMs) / call.instanceMs,
    (databaseMs - background.databaseMs) / call.databaseMs,
  )
  return {
    calls: isDown ? 0 : Math.max(0, Math.floor(calls)),
    instanceUse: (admitted: number) => (isDown ? 0 : (admitted * call.instanceMs + background.instanceMs) / instanceMs),
    databaseUse: (admitted: number) => (isDown ? 0 : (admitted * call.databaseMs + background.databaseMs) / databaseMs),
  }
}

/** Takes a share of the running calls out, rounded up, the oldest first. */
function interrupt(running: number[], share: number): number {
  const lost = Math.ceil(running.reduce((sum, calls) => sum + calls, 0) * share)
  let left = lost
  for (const [at, calls] of running.entries()) {
    const taken = Math.min(left, calls)
    running[at] = calls - taken
    left -= taken
  }
  return lost
}

/** A Poisson distribution, by its normal approximation (Box and Muller): a cell has more than ten calls a second. */
function drawCalls(mean: number, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal))
}
