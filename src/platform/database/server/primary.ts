import type pg from 'pg'
import { DatabaseError, sqlState } from '../database-error.ts'

/** The server process of a connection. Throws where it leads to a standby, which writes nothing and may answer from the past. */
export async function processIdOfPrimary(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number; isStandby: boolean }>(
    'select pg_backend_pid() as pid, pg_is_in_recovery() as "isStandby"',
  )
  if (rows[0]!.isStandby) throw new DatabaseError(sqlState.readOnly, 'the server is a standby and not the primary')
  return rows[0]!.pid
}
