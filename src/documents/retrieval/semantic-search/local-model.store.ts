import type { OwnedDatabase } from '../../../platform/database/index.ts'

/** The last installation; all instances read and write this one row. */
export interface StoredInstall {
  id: string
  model: string
  /** Whose data folder has the files. */
  host: string
  folder: string
  state: 'running' | 'done' | 'failed' | 'stopped'
  bytesDone: number
  problem: string | null
  updatedAt: Date
}

type Progress = Pick<StoredInstall, 'id' | 'state' | 'bytesDone' | 'problem'>

export type LocalModelStore = ReturnType<typeof createLocalModelStore>

export function createLocalModelStore(database: OwnedDatabase) {
  return {
    async load(): Promise<StoredInstall | undefined> {
      const [row] = await database.query<StoredInstall>(
        `select id, model, host, folder, state, bytes_done::float8 as "bytesDone", problem, updated_at as "updatedAt"
         from local_model_installs`,
      )
      return row
    },

    /** False while another one runs that was updated after `aliveSinceMs`. */
    async begin(
      { id, model, host, folder }: Pick<StoredInstall, 'id' | 'model' | 'host' | 'folder'>,
      { atMs, aliveSinceMs }: { atMs: number; aliveSinceMs: number },
    ): Promise<boolean> {
      const rows = await database.query(
        `insert into local_model_installs as running (id, model, host, folder, state, bytes_done, updated_at)
         values ($1, $2, $3, $4, 'running', 0, $5)
         on conflict (only_row) do update set id = excluded.id, model = excluded.model, host = excluded.host,
           folder = excluded.folder, state = 'running', bytes_done = 0, problem = null, updated_at = excluded.updated_at
         where running.state <> 'running' or running.updated_at < $6
         returning id`,
        [id, model, host, folder, new Date(atMs), new Date(aliveSinceMs)],
      )
      return rows.length > 0
    },

    /** False once it was stopped or another one has begun. */
    async update({ id, state, bytesDone, problem }: Progress, atMs: number): Promise<boolean> {
      const rows = await database.query(
        `update local_model_installs set state = $2, bytes_done = $3, problem = $4, updated_at = $5
         where id = $1 and state = 'running' returning id`,
        [id, state, bytesDone, problem, new Date(atMs)],
      )
      return rows.length > 0
    },

    async stop(atMs: number): Promise<void> {
      await database.execute(
        "update local_model_installs set state = 'stopped', updated_at = $1 where state = 'running'",
        [new Date(atMs)],
      )
    },
  }
}
