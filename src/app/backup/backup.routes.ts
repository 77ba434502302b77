import { archiveSchema } from '../../contract/backup.ts'
import { errorResponses } from '../../contract/errors.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { type Actor, actorOf } from '../../tenants/operators/index.ts'
import type { LiveBackup } from './live-backup.ts'

export interface BackupRoutesDependencies {
  backup: LiveBackup
  /** Writes the entry of the admin log, before anything leaves. */
  record(actor: Actor): Promise<void>
}

const described = describeRoutes({ role: 'operator' }, 'Operator')

/** `POST /api/backup`: a consistent copy of all data of the embedded databases. */
export function backupRoutes({ backup, record }: BackupRoutesDependencies): Routes {
  return (app) => {
    app.post(
      '/api/backup',
      described('createBackup', 'Back up all data', {
        description:
          'A tar archive of both embedded databases, the journal of the ledger and all files, consistent while the service handles requests. It does not contain the secret key. `portico restore` reads it. With a PostgreSQL server the status is 409.',
        response: { 200: archiveSchema, ...errorResponses(401, 403, 409, 503) },
      }),
      async (request, reply) => {
        const stream = await backup.start(request.clientSignal)
        try {
          await record(actorOf(request))
        } catch (error) {
          stream.destroy()
          throw error
        }
        reply.header('content-type', 'application/x-tar').header('cache-control', 'no-store')
        return reply.send(stream as never)
      },
    )
  }
}
