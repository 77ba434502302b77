import { sharedOwner } from '../kernel/index.ts'
import type { DatabaseFeatures } from './port.ts'
import { defaultStatementTimeoutMs, type SessionSource } from './session.ts'

export interface EngineFeatures extends DatabaseFeatures {
  /** null where pgvector is missing. */
  pgvectorVersion: string | null
}

/** Reads the versions of the engine and of its extensions. */
export async function loadFeatures(source: SessionSource): Promise<EngineFeatures> {
  const session = await source.acquire(sharedOwner)
  try {
    const result = await session.run(
      `select current_setting('server_version') as version,
              (select extversion from pg_extension where extname = 'vector') as vector,
              exists (select from pg_extension where extname = 'pg_textsearch') as bm25,
              least(
                current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                  - coalesce(current_setting('reserved_connections', true)::int, 0),
                (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
                (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as connections`,
      [],
      { timeoutMs: defaultStatementTimeoutMs },
    )
    const row = result.rows[0] as { version: string; vector: string | null; bm25: boolean; connections: number }
    return {
      serverVersion: row.version.split(' ')[0]!,
      pgvectorVersion: row.vector,
      bm25: row.bm25,
      acceptedConnections: row.connections,
    }
  } finally {
    session.release()
  }
}

/** Compares dotted versions number by number. */
export function isOlder(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [index, bound] of than.entries()) {
    const part = parts[index] ?? 0
    if (part !== bound) return part < bound
  }
  return false
}
