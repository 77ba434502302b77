import { type Hold, type Outcome, type Receipt } from '../../src/gateway/billing/index.ts'
import { answered, callOf, organisationWith } from '../../src/gateway/billing/testing/ledger-fixture.ts'
import { holdCost, pricingOf } from '../../src/gateway/billing/reservation.ts'
import { ProjectionStoppedError } from '../../src/gateway/billing/journal/projector.ts'
import type { TestDatabase } from '../../test/harness/statements.ts'
import { isAppError, parsePicoUsd, type RequestId } from '../../src/platform/kernel/index.ts'
import type { Organisation } from '../../src/tenants/organisations/index.ts'
import { type Instance, startInstance } from './instance.ts'
import { pickKind, type SimulatedKind } from './kinds.ts'
import type { Chance } from './random.ts'

/** The record of one simulated call; compared with the database at the end. */
export interface SimulatedCall {
  requestId: RequestId
  /** With the budget that the ledger is given. */
  organisation: Organisation
  /** Each time that the ledger read from the clock to choose the period; see `Instance.hold`. Empty: killed or rejected before that. */
  readAtMs: number[]
  /** The hold was acknowledged as durable, so output may have been sent. */
  durable: boolean
  /** Granted output, which may have been sent. */
  shownTokens: number
  outcome: Outcome | undefined
  /** Base cost of the outcome in attoUsd, without the ledger's functions. Absent: not known. */
  baseAttoUsd?: bigint
  /** The outcome is within the bounds of the request. */
  isBounded?: boolean
  /** What a hold for the bounds and the output has, in picoUsd. */
  boundPicoUsd?: bigint
  receipt: Receipt | undefined
  refused: boolean
  /** The process was killed, or presumed dead, during the call. */
  interrupted: boolean
}

interface CallScript {
  kind: SimulatedKind
  tokens: number
  step: number
  surprise: boolean
  unanswered: boolean
  progress: boolean
  pauses: number
}

interface Counts {
  calls: number
  kills: number
  silences: number
  clockJumps: number
  budgetChanges: number
  lateBatches: number
  failedStarts: number
}

export interface Simulation {
  calls: SimulatedCall[]
  counts: Counts
  lastInstance: Instance
  /** Statements that commit late. Those of the last instance may follow until it is closed. */
  late: Promise<unknown>[]
}

const organisationCount = 12
const maximumInstances = 3
const maximumInFlight = 60
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Apia']
const dayMs = 86_400_000

/**
 * Seeded random events over the real SQL: calls, streams, crashes, silences, clock jumps and changed budgets. With a journal one instance at
 * a time uses database and folder. Without, several share the database, and some killed instances stay away for a while.
 */
export async function simulate(
  database: TestDatabase,
  chance: Chance,
  steps: number,
  journalFolder?: string,
): Promise<Simulation> {
  // Instances share one database like a server: the start of one does not prove that the others are dead.
  const isAlone = journalFolder !== undefined
  const shared: TestDatabase = { ...database, engine: isAlone ? 'embedded' : 'postgres' }
  const counts: Counts = {
    calls: 0,
    kills: 0,
    silences: 0,
    clockJumps: 0,
    budgetChanges: 0,
    lateBatches: 0,
    failedStarts: 0,
  }
  const calls: SimulatedCall[] = []
  const inFlight = new Set<Promise<void>>()
  const running = new Map<SimulatedCall, Instance>()
  const enders = new Map<SimulatedCall, () => void>()
  const late: Promise<unknown>[] = []
  /** Killed instances that start again later. */
  let away = 0
  /** Ledger ids of instances that were made to appear dead: one that was busy then is settled by a later recovery. */
  const silenced = new Set<string>()
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  const organisations = Array.from({ length: organisationCount }, () =>
    organisationWith(chance.pick(['0.005', '0.05', '0.5', '5']), {
      timeZone: chance.pick(zones),
      periodAnchorDay: chance.integer(1, 28),
      markupBasisPoints: chance.pick([0, 1000, 3333]),
    }),
  )
  const instances: Instance[] = [await start()]
  if (!isAlone) instances.push(await start())

  for (let step = 0; step < steps; step += 1) {
    const dice = chance.next()
    if (dice < 0.9) {
      const call = beginCall()
      if (inFlight.size >= maximumInFlight) await Promise.race(inFlight)
      const running = call().finally(() => inFlight.delete(running))
      inFlight.add(running)
    } else if (dice < 0.93) changeBudget()
    else if (dice < 0.95) jumpClock()
    else if (dice < 0.96) await killOne()
    else if (dice < 0.97 && !isAlone) await silenceOne()
    else await chance.pick(instances).ledger.maintain()
    // Lets a random number of statements complete between two steps.
    for (let turns = chance.integer(0, 3); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(inFlight)
  for (; away > 0; away -= 1) instances.push(await start())
  for (const instance of instances.slice(1)) await instance.ledger.close()
  counts.lateBatches = late.length
  await Promise.all(late)
  return { calls, counts, lastInstance: instances[0]!, late }

  /** A start that loses the database while it applies its journal fails. Its supervisor starts it again. */
  async function start(): Promise<Instance> {
    const journal = journalFolder === undefined ? undefined : { mode: 'local' as const, folder: journalFolder }
    try {
      return await startInstance({ database: shared, now, chance, late, holdWaitMs: 50, journal })
    } catch (error) {
      if (!(error instanceof ProjectionStoppedError)) throw error
      counts.failedStarts += 1
      return start()
    }
  }

  function beginCall(): () => Promise<void> {
    const instance = chance.pick(instances)
    const organisation = chance.pick(organisations)
    const kind = pickKind(chance)
    const request = callOf(organisation, {
      stream: chance.happens(0.5),
      ...(chance.happens(0.5) && {
        tags: { user: `user ${chance.integer(1, 40)}`, 'metadata.team': chance.pick(['red', 'green']) },
      }),
      outputCapTokens: chance.happens(0.5) ? chance.integer(1, 4000) : null,
      ...kind.request,
    })
    const script = {
      kind,
      tokens: chance.integer(0, Math.min(3000, request.modelMaxOutputTokens)),
      step: chance.integer(50, 600),
      surprise: chance.happens(0.03),
      unanswered: chance.happens(0.05),
      progress: chance.happens(0.2),
      pauses: chance.integer(0, 5),
    }
    const call: SimulatedCall = {
      requestId: request.requestId,
      organisation,
      readAtMs: [],
      durable: false,
      shownTokens: 0,
      outcome: undefined,
      receipt: undefined,
      refused: false,
      interrupted: silenced.has(instance.ledger.instanceId()),
    }
    calls.push(call)
    counts.calls += 1
    return () => untilKilled(instance, call, () => runCall(instance, call, request, script))
  }

  async function runCall(
    instance: Instance,
    call: SimulatedCall,
    request: ReturnType<typeof callOf>,
    script: CallScript,
  ): Promise<void> {
    let hold: Hold
    try {
      hold = await instance.hold(request, call.readAtMs)
      hold.durable.catch(() => {})
    } catch (error) {
      if (!isAppError(error)) throw error
      call.refused = true
      return
    }
    if (script.unanswered) {
      call.outcome = { kind: 'unanswered', reason: 'simulated' }
      call.receipt = await hold.settle(call.outcome)
      return
    }
    const ending = await streamOut(instance, call, hold, request.stream, script)
    if (ending === null) return
    // The provider bills more than its cap allows.
    const tokens = script.surprise ? call.shownTokens + 5000 : call.shownTokens
    const usage = script.kind.usage(tokens)
    call.outcome = answered(0, 0, { ending, usage })
    call.baseAttoUsd = script.kind.cost(usage)
    call.isBounded = !script.surprise
    // A call without output is held with its cap, which is the units that its provider bills.
    const covered = request.surface === 'embeddings' ? request.outputCapTokens! : tokens
    call.boundPicoUsd = holdCost(pricingOf(request, Date.now()), request.promptTokensBound, covered)
    call.receipt = await hold.settle(call.outcome)
  }

  /** Sends output like the gateway; null when the hold never became durable. */
  async function streamOut(
    instance: Instance,
    call: SimulatedCall,
    hold: Hold,
    stream: boolean,
    script: CallScript,
  ): Promise<'completed' | 'budget_ended' | null> {
    try {
      await hold.durable
      call.durable = true
    } catch {
      await hold.settle({ kind: 'unanswered', reason: 'not durable' })
      return null
    }
    const most = Math.min(script.tokens, hold.outputCapTokens ?? script.tokens)
    if (!stream) call.shownTokens = most
    while (call.shownTokens < most) {
      const next = Math.min(most, call.shownTokens + script.step)
      try {
        const granted = hold.grant(next)
        if (granted !== true) await granted
      } catch {
        return 'budget_ended'
      }
      call.shownTokens = next
      if (script.progress) await instance.ledger.writeProgress()
    }
    for (let pause = script.pauses; pause > 0; pause -= 1) await new Promise((resolve) => setTimeout(resolve, 2))
    return 'completed'
  }

  function changeBudget(): void {
    const place = chance.integer(0, organisations.length - 1)
    const budget = parsePicoUsd(chance.pick(['0', '0.005', '0.05', '0.5', '5']))
    organisations[place] = { ...organisations[place]!, monthlyBudgetPicoUsd: budget }
    counts.budgetChanges += 1
  }

  function jumpClock(): void {
    offsetMs += chance.pick([-35 * dayMs, -dayMs, -3_600_000, 3_600_000, dayMs, 31 * dayMs])
    counts.clockJumps += 1
  }

  async function killOne(): Promise<void> {
    const place = chance.integer(0, instances.length - 1)
    const victim = instances[place]!
    const dead = victim.ledger.instanceId()
    const ended = victim.kill()
    endInterrupted(victim)
    await ended
    counts.kills += 1
    await expire(dead)
    if (!isAlone && instances.length > 1 && chance.happens(0.4)) {
      // Others run on.
      instances.splice(place, 1)
      away += 1
      await chance.pick(instances).ledger.maintain()
      return
    }
    instances[place] = await start()
    await chance.pick(instances).ledger.maintain()
  }

  /** A slow process is presumed dead, another one settles its calls, and the slow process continues. */
  async function silenceOne(): Promise<void> {
    if (instances.length < maximumInstances) {
      instances.push(await start())
      away = Math.max(0, away - 1)
    }
    const silent = chance.pick(instances)
    const other = instances.find((instance) => instance !== silent)!
    // Before the silence: after it any instance may settle these calls, and running calls may end at once.
    for (const [call, instance] of running) if (instance === silent) call.interrupted = true
    silenced.add(silent.ledger.instanceId())
    await expire(silent.ledger.instanceId())
    counts.silences += 1
    await other.ledger.maintain()
  }

  async function expire(instanceId: string): Promise<void> {
    await database.execute(
      "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id = $1",
      [instanceId],
    )
  }

  /** A call ends with its process: the awaited reply never arrives. */
  function untilKilled(instance: Instance, call: SimulatedCall, run: () => Promise<void>): Promise<void> {
    running.set(call, instance)
    return new Promise<void>((resolve, reject) => {
      enders.set(call, resolve)
      run().then(resolve, reject)
    }).finally(() => {
      running.delete(call)
      enders.delete(call)
    })
  }

  function endInterrupted(victim: Instance): void {
    for (const [call, instance] of running) {
      if (instance !== victim) continue
      call.interrupted = true
      enders.get(call)?.()
    }
  }
}
