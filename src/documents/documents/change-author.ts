import type { Actor } from '../../tenants/operators/index.ts'

/** Who changes documents, and when. Absent for changes with an API key, which the log does not have. */
export interface ChangeAuthor {
  actor: Actor
  atMs: number
}
