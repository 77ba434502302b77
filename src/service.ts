import type { Config } from './config.ts'
import { type Clock, type Log, systemClock } from './kernel/index.ts'
import { openAccess } from './service/access.ts'
import { openDocuments } from './service/documents.ts'
import { openFiles } from './service/files.ts'
import { openFoundation } from './service/foundation.ts'
import { openGateway } from './service/gateway.ts'
import { openModels } from './service/models.ts'
import { openSearch } from './service/search.ts'
import { openServer } from './service/server.ts'
import { openSpaces } from './service/spaces.ts'

export interface ServiceOptions {
  config: Config
  log: Log
  /** Tests give their own. */
  clock?: Clock | undefined
}

export type Service = Awaited<ReturnType<typeof createService>>

/** Builds every part of Portico from the configuration and gives it its dependencies. `stop` disposes in reverse. */
export async function createService({ config, log, clock = systemClock }: ServiceOptions) {
  await using building = new AsyncDisposableStack()
  const onStop = (close: () => unknown) => building.defer(async () => void (await close()))

  const foundation = await openFoundation({ config, log, clock, onStop })
  const access = await openAccess(foundation)
  const models = await openModels(foundation)
  const gateway = await openGateway(foundation, access, models)
  const files = await openFiles(foundation)
  const spaces = await openSpaces(foundation, access, models, files)
  const search = await openSearch(foundation, access, models, gateway, files)
  const documents = openDocuments(foundation, files, search, spaces)
  const parts = { ...foundation, ...access, ...models, ...gateway, ...files, ...spaces, ...search, ...documents }
  const server = openServer(parts)

  const opened = building.move()
  let stopping = false

  return {
    ...parts,

    /** Starts the background work and listens. */
    async start(): Promise<{ url: string; metricsUrl: string | undefined }> {
      await documents.work.start()
      await server.listen()
      return { url: server.url(), metricsUrl: server.metricsUrl() }
    },

    /** What a person reads at the start. */
    describe(): string {
      const { control } = foundation
      const store =
        control.engine === 'embedded'
          ? `embedded database in ${config.settings.dataFolder}`
          : `PostgreSQL ${control.features.serverVersion}`
      const url = server.url()
      const metricsUrl = server.metricsUrl()
      return [
        `Portico ${server.version} listening on ${url} (API page: ${url}/docs)`,
        `  data: ${store}; files in ${files.blobs.label}; search: ${files.index.engine}`,
        `  embedder: ${search.embedder.label}`,
        ...(metricsUrl ? [`  metrics: ${metricsUrl}`] : []),
      ].join('\n')
    },

    /** Streams finish within the grace, jobs return to the queue, everything is closed in reverse. Idempotent. */
    async stop(): Promise<void> {
      if (stopping) return
      stopping = true
      documents.work.beginStop()
      await server.close()
      await documents.work.end()
      await server.closeMetrics()
      await opened.disposeAsync()
    },
  }
}
