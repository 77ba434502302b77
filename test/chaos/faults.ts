import { renameSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runOnServer } from '../harness/database-template.ts'
import type { ProviderFault } from '../harness/ledger-crash/planned-provider.ts'
import { hangsAfterMs } from './harness/instance.ts'
import { noticedWithinMs } from './harness/jumping-clock.ts'
import { commandLineOf, descendantsOf, isAlive } from './harness/processes.ts'
import type { ChaosStage } from './harness/stage.ts'

/** What happens to a service under load. Each leaves the world as it was; the service has to recover by itself. */
export interface ChaosFault {
  name: string
  /** Only on this engine. */
  engine?: 'embedded' | 'server'
  /** The reason why it cannot happen here. */
  impossible?(stage: ChaosStage): string | false
  inject(stage: ChaosStage, random: () => number): Promise<void>
}

const hour = 3_600_000
const clientsThatHangUp = 1_000
/** Longer than most calls take, and than the wait of a call for its hold: each is tried alone unless it waits for the end of a fault. */
const tryAgainMs = 6_000

export const faults: ChaosFault[] = [
  {
    name: 'kill -9 of an instance',
    async inject({ instances, load }, random) {
      const victim = pick(instances, random)
      await until(() => load.openStreams() > 2)
      victim.kill()
      await until(() => !victim.isUp())
    },
  },
  {
    name: 'kill -9 of a process that reads a document',
    inject: ({ instances }) =>
      until(() => {
        const pids = instances.flatMap((instance) => instance.pids())
        const reader = pids.find((pid) => commandLineOf(pid).includes('extractor-process'))
        if (reader !== undefined) process.kill(reader, 'SIGKILL')
        return reader !== undefined
      }),
  },
  {
    name: 'kill -9 of one of two processes that share a port',
    engine: 'server',
    async inject({ instances }, random) {
      const second = instances[1]!
      const pid = pick(serviceProcesses(second.pid()), random)
      second.kill(pid)
      await until(() => serviceProcesses(second.pid()).filter((other) => other !== pid).length === 2)
    },
  },
  {
    name: 'kill -9 of the supervisor of two processes',
    engine: 'server',
    async inject({ instances }) {
      const pids = instances[1]!.pids()
      instances[1]!.kill()
      // Its processes end with it: nothing would start them again, and they hold the port.
      await until(() => !pids.some(isAlive))
    },
  },
  {
    name: 'a crash and restart of the database',
    engine: 'server',
    inject: ({ postgres }) => postgres!.crash(),
  },
  {
    name: 'the end of all connections to the database',
    engine: 'server',
    async inject({ postgres }) {
      const others = 'from pg_stat_activity where pid <> pg_backend_pid()'
      await runOnServer(postgres!.url, `select pg_terminate_backend(pid) ${others}`)
    },
  },
  {
    name: 'SIGSTOP of the database server for 7 to 15 s, then SIGCONT',
    engine: 'server',
    async inject({ postgres }, random) {
      const ms = 7_000 + 8_000 * random()
      const server = postgres!.pid()
      // First the process that starts the others.
      process.kill(server, 'SIGSTOP')
      const pids = [server, ...descendantsOf(server)]
      for (const pid of pids) signalIfAlive(pid, 'SIGSTOP')
      await wait(ms)
      for (const pid of pids) signalIfAlive(pid, 'SIGCONT')
    },
  },
  {
    name: 'a restart of PgBouncer',
    engine: 'server',
    impossible: ({ pooler }) => pooler === undefined && 'PgBouncer is not installed',
    async inject(stage) {
      const { pooler } = stage
      await pooler!.kill()
      try {
        await fails(stage, /completion 503/)
      } finally {
        await pooler!.start()
      }
    },
  },
  {
    name: 'SIGSTOP of an instance for longer than it is presumed alive, then SIGCONT',
    engine: 'server',
    inject: ({ instances }) => pause(instances[0]!, 13_000),
  },
  {
    name: 'SIGSTOP of the instance, then SIGCONT',
    engine: 'embedded',
    // Longer than a client waits for a write of the ledger.
    inject: ({ instances }) => pause(instances[0]!, 9_000),
  },
  {
    name: 'a full disk',
    engine: 'embedded',
    impossible: ({ disk }) => disk === undefined && 'this process may not mount a file system',
    async inject(stage) {
      const { disk, allowEnds } = stage
      // Some failed writes end the process (docs/understand/ledger.md).
      allowEnds(true)
      disk!.fill()
      try {
        await fails(stage, /upload 503/)
        await wait(3_000)
      } finally {
        disk!.makeRoom()
      }
    },
  },
  {
    name: 'a folder of files that is away',
    engine: 'embedded',
    async inject(stage) {
      const folder = path.join(stage.place.dataFolder, 'blobs')
      renameSync(folder, `${folder}-away`)
      try {
        await fails(stage, /upload 503/)
        await wait(2_000)
      } finally {
        renameSync(`${folder}-away`, folder)
      }
    },
  },
  {
    name: 'a bucket of files that is away',
    engine: 'server',
    async inject(stage) {
      stage.s3!.setAway(true)
      try {
        await fails(stage, /upload 503/)
        await wait(2_000)
      } finally {
        stage.s3!.setAway(false)
      }
    },
  },
  {
    name: 'a clock that jumps forward and back',
    async inject({ clock, operator, team }) {
      for (const offsetMs of [3 * hour, -3 * hour, 0]) {
        clock.jumpTo(offsetMs)
        await until(async () => {
          const { headers } = await operator('GET', `/api/organisations/${team.id}/budget`)
          const seenMs = Date.parse(headers.get('x-portico-as-of') ?? '') - Date.now()
          return Math.abs(seenMs - offsetMs) < hour / 2
        })
        // Some load with this clock.
        await wait(noticedWithinMs + 1_000)
      }
    },
  },
  {
    name: 'a provider that answers with 429, with 500, by half, or not at all',
    async inject({ provider }, random) {
      const often: (ProviderFault | undefined)[] = ['rate_limit', 'error', 'half', undefined]
      const kinds = [...often, ...often, 'silence' as const]
      provider.storm(() => pick(kinds, random))
      await wait(5_000)
      provider.storm(() => undefined)
    },
  },
  {
    name: `${clientsThatHangUp} clients that hang up`,
    inject: async ({ instances, load }) => {
      const share = clientsThatHangUp / instances.length
      let left = 0
      // On a busy machine many are rejected or fail before any text: then again.
      await until(
        async () => {
          for (const count of await Promise.all(instances.map(({ url }) => load.hangUp(url, share)))) left += count
          return left >= clientsThatHangUp / 2
        },
        () => `only ${left} clients have left after some text`,
      )
    },
  },
]

/** Of a supervisor: those that answer requests. */
function serviceProcesses(supervisor: number): number[] {
  return descendantsOf(supervisor).filter((pid) => commandLineOf(pid).includes('--process='))
}

async function pause(instance: ChaosStage['instances'][number], ms: number): Promise<void> {
  instance.signal('SIGSTOP')
  await wait(ms)
  instance.signal('SIGCONT')
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!
}

/**
 * The fault takes effect: otherwise it would prove nothing. A call whose hold and bill were sent together and got no answer waits for the end
 * of the fault (docs/understand/ledger.md), so others are tried meanwhile.
 */
async function fails({ load, instances }: ChaosStage, expected: RegExp): Promise<void> {
  const failed = new Set<string>()
  await until(
    async () => {
      const tried = load.tryAll(instances[0]!.url, (what) => failed.add(what))
      await Promise.race([tried, wait(tryAgainMs)])
      return [...failed].some((one) => expected.test(one))
    },
    () => `the fault has not led to ${expected}, but to: ${[...failed].join(', ')}`,
  )
}

async function until(
  condition: () => boolean | Promise<boolean>,
  describe = () => 'the moment for this fault did not come',
): Promise<void> {
  const deadline = performance.now() + hangsAfterMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(describe())
    await wait(10)
  }
}
