import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** How long a client had to wait for a table. */
export interface LockWait {
  table: string
  ms: number
}

/** Pause between two rounds, so that the probe itself takes no processor. */
const pauseMs = 5

/**
 * Asks for the lock of a write on one table after the other, as every request of a service does, until `stop` is called. That lock waits for whatever reads or
 * writes would wait for. Resolves when the first round is done; `stop` resolves to the longest wait for each table, the longest first.
 */
export async function startLockProbe(url: string): Promise<{ tables: number; stop(): Promise<LockWait[]> }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(nspname) || '.' || quote_ident(relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p') and nspname like 'portico%' order by 1`,
  )
  const tables = rows.map(({ name }) => name)
  const longest = new Map(tables.map((table) => [table, 0]))
  const stopped = new AbortController()

  async function probeAll(): Promise<void> {
    for (const table of tables) {
      const startMs = performance.now()
      // A table that a script removes has no waiting clients any more.
      await client.query(`begin; lock table ${table} in row exclusive mode; rollback`).catch(async (error: unknown) => {
        await client.query('rollback')
        if ((error as { code?: string }).code !== '42P01') throw error
      })
      longest.set(table, Math.max(longest.get(table)!, performance.now() - startMs))
    }
  }

  async function probeUntilStopped(): Promise<void> {
    while (!stopped.signal.aborted) {
      await probeAll()
      await delay(pauseMs)
    }
  }

  await probeAll()
  for (const table of tables) longest.set(table, 0)
  const probing = probeUntilStopped()
  return {
    tables: tables.length,
    async stop() {
      stopped.abort()
      await probing.finally(() => client.end())
      return [...longest].map(([table, ms]) => ({ table, ms })).sort((a, b) => b.ms - a.ms)
    },
  }
}
