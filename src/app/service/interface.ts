import type { Database } from '../../platform/database/index.ts'
import type { Router } from '../../gateway/routing/index.ts'
import { createReadiness } from './readiness.ts'
import { createRoutes, type RouteDependencies } from './routes.ts'
import { createScrape } from './scrape.ts'
import { openServer, type ServerDependencies } from './server.ts'

interface InterfaceDependencies
  extends
    Omit<RouteDependencies, 'checkReadiness' | 'publicUrl'>,
    Pick<ServerDependencies, 'config' | 'limiter' | 'telemetry' | 'isStopping'> {
  control: Database
  corpus: Database
  router: Router
}

/** The server with all routes, the answer of /readyz, and the gauges of Prometheus. */
export function openInterface(parts: InterfaceDependencies) {
  const { config, control, corpus, accounts: people } = parts
  const checkReadiness = createReadiness({ databases: [control, corpus], ...parts })
  const routes = createRoutes({ ...parts, checkReadiness, publicUrl: config.settings.server.publicUrl })
  return openServer({ ...parts, callers: { ...parts, people }, routes, readGauges: createScrape(parts) })
}
