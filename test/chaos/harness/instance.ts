import { setTimeout as wait } from 'node:timers/promises'
import { type PorticoProcess, spawnPortico } from '../../harness/portico.ts'
import { freePorts } from '../../harness/free-port.ts'
import { descendantsOf } from './processes.ts'

/** One instance with a fixed address. What starts services again after their end (systemd, a container platform) is part of it. */
export interface ChaosInstance {
  name: string
  url: string
  pid(): number
  /** Of the process and of all that it has started. */
  pids(): number[]
  /** Of this process alone; it is started again as after any other end. */
  kill(pid?: number): void
  signal(name: NodeJS.Signals): void
  /** Ends that no test asked for. */
  unexpectedEnds(): string[]
  /** The end of what it has printed, also while it starts. */
  output(): string
  /** Sum of a metric over the processes of the instance. */
  metric(line: string): Promise<number>
  /** False from an end until the next start has ended. */
  isUp(): boolean
  isStopped(): boolean
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
}

/** As the unit in deploy/ has it. */
const restartAfterMs = 1_000
const maximumFirstStarts = 5
const keptCharacters = 4_000
/** No promise of the service: on a busy machine all takes long, and what takes longer than this hangs. */
export const hangsAfterMs = 150_000

export interface InstanceOptions {
  name: string
  environment: Record<string, string>
  processes?: number
  /** Ends of the process that a fault is allowed to cause; others are reported. */
  mayEnd(): boolean
}

export async function startInstance({
  name,
  environment,
  processes = 1,
  mayEnd,
}: InstanceOptions): Promise<ChaosInstance> {
  const [port, ...metricsPorts] = (await freePorts(processes + 1)) as [number, ...number[]]
  const variables = { PORT: String(port), PORTICO_METRICS_PORT: String(metricsPorts[0]), ...environment }
  const unexpected: string[] = []
  let running: PorticoProcess | undefined
  let failedStarts = 0
  let output = ''
  let killed = false
  let isUp = false
  let stopping = false
  let restarting: Promise<void> = Promise.resolve()

  const noteOutput = (text: string) => {
    output = (output + text).slice(-keptCharacters)
  }
  async function start(): Promise<void> {
    running = await spawnPortico(variables, processes > 1 ? [`--processes=${processes}`] : [], noteOutput)
    const { child } = running
    isUp = true
    child.once('exit', (code, signal) => {
      isUp = false
      if (stopping) return
      if (!killed && !mayEnd()) unexpected.push(`${name} ended with ${code ?? signal}: ${output}`)
      killed = false
      restarting = restart()
    })
  }
  /** Repeats a start that fails, as a supervisor does: the database is away, or the machine is too busy to connect in time. */
  async function restart(): Promise<void> {
    for (;;) {
      await wait(restartAfterMs)
      if (stopping) return
      try {
        return await start()
      } catch (error) {
        if (running === undefined && ++failedStarts === maximumFirstStarts) throw error
      }
    }
  }
  await start().catch(restart)
  const pid = () => running!.child.pid!
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    pid,
    pids: () => [pid(), ...descendantsOf(pid())],
    kill(victim = pid()) {
      if (victim === pid()) killed = true
      process.kill(victim, 'SIGKILL')
    },
    signal: (signal) => void running!.child.kill(signal),
    unexpectedEnds: () => unexpected,
    output: () => output,
    async metric(line) {
      let sum = 0
      for (const metricsPort of metricsPorts) {
        const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
        const found = text.split('\n').find((one) => one.startsWith(`${line} `))
        sum += Number(found?.split(' ').at(-1) ?? 0)
      }
      return sum
    },
    isUp: () => isUp,
    isStopped: () => stopping,
    async stop() {
      if (!isUp) await Promise.race([restarting, wait(hangsAfterMs)])
      stopping = true
      return isUp ? running!.kill('SIGTERM') : null
    },
  }
}
