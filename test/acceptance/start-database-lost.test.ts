import { describe, expect, it, onTestFinished } from 'vitest'
import pg from 'pg'
import { freshDatabasePlace, serviceVariables, testServerUrl } from '../harness/database.ts'
import { type PorticoProcess, spawnPortico } from '../harness/portico.ts'

/** A start while PostgreSQL terminates its connections, as at a restart or a failover of the server. */

describe.runIf(testServerUrl())('a start while PostgreSQL terminates every connection', () => {
  it('succeeds once the connections stay', async () => {
    const { databaseUrl, environment } = await freshPlace()
    const terminating = await terminateConnections(databaseUrl)
    const starting = spawnPortico(environment)
    starting.catch(() => {})
    await Promise.race([terminating.terminated(8), starting.catch(() => {})])
    await terminating.stop()
    const running: PorticoProcess = await starting
    onTestFinished(async () => void (await running.kill('SIGKILL')))
    expect(running.output()).toMatch(/the database ended a connection during the start|waiting for the database server/)
    expect(await running.kill('SIGTERM')).toBe(0)
  }, 120_000)

  it('ends with one line that names the remedy, without a stack, where it does not stop', async () => {
    const { databaseUrl, environment } = await freshPlace()
    const terminating = await terminateConnections(databaseUrl)
    onTestFinished(terminating.stop)
    const failure = await spawnPortico(environment).then(
      () => 'started',
      (error: Error) => error.message,
    )
    expect(failure).toContain('portico ended with 1')
    const [line, ...more] = failure.split('\n').filter((text) => text.startsWith('portico: '))
    expect(line).toMatch(/^portico: .*database.*start/)
    expect(more).toEqual([])
    expect(failure).not.toMatch(/\n\s+at /)
  }, 120_000)
})

async function freshPlace() {
  const place = await freshDatabasePlace()
  onTestFinished(place.remove)
  return { databaseUrl: place.databaseUrl!, environment: serviceVariables(place, 'operator-token-of-a-start') }
}

/** Terminates all other connections to the database, again and again. */
async function terminateConnections(databaseUrl: string) {
  const client = new pg.Client({ connectionString: testServerUrl()! })
  await client.connect()
  const name = new URL(databaseUrl).pathname.slice(1)
  const waiting = new Set<{ count: number; resolve: () => void }>()
  let terminated = 0
  const stopping = new AbortController()
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      const { rowCount } = await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
        [name],
      )
      terminated += rowCount ?? 0
      for (const waiter of waiting) if (terminated >= waiter.count) waiter.resolve()
    }
  })()
  return {
    terminated: (count: number) => new Promise<void>((resolve) => void waiting.add({ count, resolve })),
    async stop() {
      stopping.abort()
      await loop
      await client.end().catch(() => {})
    },
  }
}
