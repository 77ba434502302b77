import type { LedgerService } from '../../gateway/billing/index.ts'
import { type Database, mostConnections } from '../../platform/database/index.ts'
import { describeError, type Log, type Role } from '../../platform/kernel/index.ts'
import { type Config, ConfigError } from '../config/index.ts'

interface Server {
  name: 'control' | 'corpus'
  accepted: number
  /** Of one logical database. */
  perDatabase: number
  /** Logical databases there that a process with the role uses. */
  databases(role: Role): number
}

export interface ConnectionsInput {
  config: Pick<Config, 'settings' | 'secrets'>
  control: Pick<Database, 'engine' | 'features'>
  corpus: Pick<Database, 'engine' | 'features'> | null
  ledger: Pick<LedgerService, 'instanceId' | 'loadLiveInstances'>
  log: Log
}

/**
 * The formula of docs/operate/database.md#sizing: throws ConfigError where this process alone may open more connections than a server accepts, and
 * warns where it may together with those that are alive. All processes have the same configuration.
 */
export async function checkConnections(input: ConnectionsInput): Promise<void> {
  if (input.control.engine !== 'postgres') return
  const { config, ledger, log } = input
  const { role } = config.settings.server
  const servers = serversOf(input)
  for (const server of servers) assertFits(server, role)
  const live = await ledger.loadLiveInstances().catch((error: unknown) => {
    log.warn({ error: describeError(error) }, 'the connections of all processes were not counted')
    return []
  })
  const others = live.filter(({ id }) => id !== ledger.instanceId())
  const roles: Role[] = [role, ...others.map((other) => other.role ?? 'all')]
  for (const server of servers) {
    const most = roles.reduce((sum, one) => sum + mostOf(server, one), 0)
    if (most <= server.accepted) continue
    log.warn(
      { database: server.name, processes: roles.length, connections: most, accepted: server.accepted },
      'all processes together may open more connections than the database server accepts: raise max_connections of PostgreSQL, or lower ' +
        'database.maximumConnections',
    )
  }
}

function serversOf({ config, control, corpus }: ConnectionsInput): Server[] {
  const { settings, secrets } = config
  const most = (directUrl: string | undefined) => mostConnections(settings.database, directUrl !== undefined)
  const isSeparate = secrets.corpusDatabaseUrl !== undefined
  const servers: Server[] = [
    {
      name: 'control',
      accepted: control.features.acceptedConnections,
      perDatabase: most(secrets.databaseDirectUrl),
      databases: (role) => (role === 'gateway' || isSeparate ? 1 : 2),
    },
  ]
  if (corpus && isSeparate)
    servers.push({
      name: 'corpus',
      accepted: corpus.features.acceptedConnections,
      perDatabase: most(secrets.corpusDatabaseDirectUrl),
      databases: (role) => (role === 'gateway' ? 0 : 1),
    })
  return servers
}

const mostOf = ({ perDatabase, databases }: Server, role: Role) => perDatabase * databases(role)

function assertFits(server: Server, role: Role): void {
  const most = mostOf(server, role)
  if (most <= server.accepted) return
  throw new ConfigError(
    `this process may open ${most} connections to the server of the ${server.name} database, which accepts ${server.accepted}: raise ` +
      'max_connections of PostgreSQL, or lower database.maximumConnections (PORTICO_DATABASE_CONNECTIONS).',
  )
}
