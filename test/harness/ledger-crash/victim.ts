import { writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type DatabasePlace, freshDatabasePlace, serviceVariables } from '../database.ts'
import {
  createApiClient,
  expectStatus,
  organisationMakers,
  type PorticoProcess,
  soonPresumedDead,
  spawnPortico,
} from '../portico.ts'
import { type PlannedProvider, providerSettings } from './planned-provider.ts'
import type { Caller } from './recorded-call.ts'

export const operatorToken = 'operator-token-of-the-crash-tests'
/** On a server another instance settles what a dead one held; embedded, the next start settles everything. */
const settledWithinMs = 40_000

/** Restarts take most of the time of these tests; compiled modules save a quarter of it. */
const compileCache = path.join(os.tmpdir(), `portico-test-compile-cache-${os.userInfo().uid}`)

/** The cache is written when a process exits normally, which killed processes never do. */
export async function warmCompileCache(provider: PlannedProvider): Promise<void> {
  await using victim = await openVictim(provider)
  await victim.stop()
}

interface Budget {
  budgetUsd: string
  spentUsd: string
  heldUsd: string
  leftUsd: string
}

/** Successive Portico processes on the same data. */
export interface Victim {
  place: DatabasePlace
  /** Undefined while it is down. */
  url(): string | undefined
  start(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** For SIGSTOP and SIGCONT, which end nothing. */
  signal(name: NodeJS.Signals): void
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
  createOrganisation(monthlyBudgetUsd: string): Promise<Caller>
  setBudget(id: string, monthlyBudgetUsd: string): Promise<void>
  budget(id: string): Promise<Budget>
  /** Waits until no hold is open. */
  settleAll(organisations: readonly Caller[]): Promise<void>
  /** One line for each finding. */
  auditFindings(): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

export interface VictimOptions {
  /** Shared by several processes; the caller removes it. */
  place?: DatabasePlace
  environment?: Record<string, string>
}

/** Starts Portico on fresh data with the planned provider. */
export async function openVictim(provider: PlannedProvider, options: VictimOptions = {}): Promise<Victim> {
  const place = options.place ?? (await freshDatabasePlace())
  const configFile = path.join(place.dataFolder, 'portico.yaml')
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(providerSettings(provider)))
  const environment = {
    ...serviceVariables(place, operatorToken),
    PORTICO_CONFIG: configFile,
    PORTICO_LOG_LEVEL: 'warn',
    NODE_COMPILE_CACHE: compileCache,
    ...soonPresumedDead,
    ...options.environment,
  }
  let running: PorticoProcess | undefined = await spawnPortico(environment)
  let url: string | undefined = running.url

  const operator = (method: string, target: string, body?: unknown) =>
    createApiClient(running!.url, operatorToken)(method, target, body)

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = running!
    url = undefined
    return ending.kill(signal)
  }

  async function budget(id: string): Promise<Budget> {
    return expectStatus(await operator('GET', `/api/organisations/${id}/budget`), 200) as Budget
  }

  return {
    place,
    url: () => url,
    async start() {
      running = await spawnPortico(environment)
      url = running.url
    },
    async kill() {
      await end('SIGKILL')
    },
    signal: (name) => void running!.child.kill(name),
    stop: () => end('SIGTERM'),
    async createOrganisation(monthlyBudgetUsd) {
      const { id, apiKey } = await organisationMakers(
        running!.url,
        createApiClient(running!.url, operatorToken),
      ).createOrganisation({ monthlyBudgetUsd })
      return { id, apiKey }
    },
    async setBudget(id, monthlyBudgetUsd) {
      expectStatus(await operator('PATCH', `/api/organisations/${id}`, { monthlyBudgetUsd }), 200)
    },
    budget,
    async settleAll(organisations) {
      const deadline = performance.now() + settledWithinMs
      for (const { id } of organisations) {
        while (Number((await budget(id)).heldUsd) > 0) {
          if (performance.now() > deadline) throw new Error(`money of ${id} is still held`)
          await wait(200)
        }
      }
    },
    async auditFindings() {
      const { findings } = expectStatus(await operator('GET', '/api/audit'), 200) as { findings: unknown[] }
      return findings.map((finding) => `audit: ${JSON.stringify(finding)}`)
    },
    async [Symbol.asyncDispose]() {
      if (running?.child.exitCode === null && running.child.signalCode === null) await end('SIGKILL')
      if (!options.place) await place.remove()
    },
  }
}
