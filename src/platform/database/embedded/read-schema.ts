import path from 'node:path'
import { runOnClient } from '../statement.ts'
import { connectWorker } from './embedded-source.ts'

const sharedBuffersMegabytes = 8

/**
 * Opens an embedded database, which recovers it after a crash and from a copy, and closes it. Returns the names of its migrations,
 * oldest first. No migration runs. The caller has locked its folder.
 */
export async function readEmbeddedSchema(folder: string): Promise<string[]> {
  const connection = await connectWorker({ folder: path.resolve(folder), sharedBuffersMegabytes })
  try {
    const { rows } = await runOnClient(connection.client, 'select name from portico_migrations order by name', [])
    return (rows as { name: string }[]).map(({ name }) => name)
  } finally {
    await connection.close()
  }
}
