import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../kernel/index.ts'
import { createDatabase } from '../create-database.ts'
import { DatabaseStartError, shortMessage, sqlState, toDatabaseError } from '../database-error.ts'
import { quoteName } from '../sql.ts'
import { type EngineFeatures, isOlder, loadFeatures } from '../features.ts'
import { migrate } from '../migrate.ts'
import type { Database, LogicalDatabase } from '../port.ts'
import { defaultLimits, type ServerLimits } from '../session.ts'
import { assertOwnSession, assertSameDatabase } from './pooler.ts'
import { processIdOfPrimary } from './server-session.ts'
import { createReplica } from './replica.ts'
import { createServerSource } from './server-source.ts'

export interface ServerOptions {
  name: LogicalDatabase
  url: string
  /** The server itself, where `url` leads to a pooler in transaction mode: for LISTEN, migrations and statements outside of transactions. */
  directUrl?: string | undefined
  /** A standby that reports and searches may read. It may be away. */
  replicaUrl?: string | undefined
  limits?: Partial<ServerLimits> | undefined
  log: Log
  migrationsFolder?: string | undefined
  allowUnfinishedMove?: boolean | undefined
}

// A server that starts at the same time (compose) or is in a failover may need these attempts.
const connectAttempts = 10
const connectRetryMs = 500
const replicaConnectionWaitMs = 3_000
// Refused, reset, a standby, ended by the server or "the database system is starting up".
const transientCodes = ['ECONNREFUSED', 'ECONNRESET', sqlState.readOnly, '57P01', '57P02', '57P03']
// Errors of the driver, which have no code: the server has ended the connection while it was made or before its first statement, or it is
// too busy to answer.
const transientErrors =
  /^(?:Connection terminated unexpectedly|Client has encountered a connection error|timeout expired)/
const preparationLockKey = 7_041_994_202n

/** Opens one logical database on a PostgreSQL server: creates its schema and extensions, and runs its migrations. */
export async function openServer(options: ServerOptions): Promise<Database> {
  const { name, url, directUrl, replicaUrl, log, migrationsFolder, allowUnfinishedMove } = options
  const limits = { ...defaultLimits, ...options.limits }
  const schema = `portico_${name}`
  const extensionSchemas = await prepareServer(options, schema)
  const common = {
    name,
    // The schemas of the extensions, so that their types are found by plain names.
    searchPath: [...new Set([schema, ...extensionSchemas])].map(quoteName).join(', '),
    limits,
    log,
  }
  const source = createServerSource({ ...common, url, directUrl })
  try {
    const features = await loadFeatures(source)
    if (name === 'corpus') warnOfOldPgvector(features, log)
    await migrate({ name, engine: 'postgres', source, log, folder: migrationsFolder, allowUnfinishedMove })
    const database = { name, engine: 'postgres' as const, features, limits }
    if (replicaUrl === undefined) return createDatabase({ ...database, source })
    // Where it has no free connection, the primary answers.
    const ofReplica = createServerSource({
      ...common,
      url: replicaUrl,
      isReplica: true,
      limits: { ...limits, connectionWaitMs: Math.min(limits.connectionWaitMs, replicaConnectionWaitMs) },
    })
    const replica = createReplica({
      database: createDatabase({ ...database, source: ofReplica }),
      waitMs: limits.replicaWaitMs,
      log,
    })
    return createDatabase({ ...database, source, replica })
  } catch (error) {
    await source.close()
    throw error
  }
}

/** Creates the schema and, where it is allowed to, the extensions. Resolves to the schemas of the extensions. */
async function prepareServer({ name, url, directUrl, log }: ServerOptions, schema: string): Promise<string[]> {
  const client = await connectWithRetries(directUrl ?? url, name, log)
  let pooled: pg.Client | undefined
  try {
    await assertOwnSession(client, directUrl ?? url, name)
    if (directUrl !== undefined) {
      pooled = await connectWithRetries(url, name, log)
      await assertSameDatabase(pooled, client, name)
    }
    await createSchema(client, schema, name)
    if (name === 'corpus') {
      await createExtension(client, 'vector', log)
      await createExtension(client, 'pg_textsearch', log)
    }
    const { rows } = await client.query<{ extension: string; schema: string }>(
      `select extname as extension, nspname as schema from pg_extension
       join pg_namespace on pg_namespace.oid = extnamespace where extname in ('vector', 'pg_textsearch')`,
    )
    if (name === 'corpus' && !rows.some((row) => row.extension === 'vector')) {
      throw new DatabaseStartError(
        'the corpus database needs the extension pgvector: install it on the server and run "create extension vector" as a superuser',
      )
    }
    return rows.map((row) => row.schema)
  } catch (error) {
    throw error instanceof DatabaseStartError ? error : toDatabaseError(error)
  } finally {
    await Promise.all([client.end(), pooled?.end()])
  }
}

async function connectWithRetries(url: string, name: LogicalDatabase, log: Log): Promise<pg.Client> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await processIdOfPrimary(client)
      return client
    } catch (error) {
      void client.end().catch(() => {})
      const code = String((error as { code?: unknown }).code)
      // Other errors, such as a wrong password, are permanent.
      const isTransient = transientErrors.test(shortMessage(error))
      if (!(transientCodes.includes(code) || isTransient) || attempt >= connectAttempts) {
        throw new DatabaseStartError(
          `could not connect to the server of the ${name} database: ${shortMessage(error)}`,
          { cause: isTransient ? toDatabaseError(error) : error },
        )
      }
      log.warn({ database: name, attempt, reason: shortMessage(error) }, 'waiting for the database server')
      await delay(connectRetryMs)
    }
  }
}

async function createSchema(client: pg.Client, schema: string, name: LogicalDatabase): Promise<void> {
  const exists = await client.query('select from pg_namespace where nspname = $1', [schema])
  if (exists.rowCount) return
  try {
    // "if not exists" fails when two instances run it at the same time, so a lock, held until the commit, separates them.
    await client.query(
      `begin; select pg_advisory_xact_lock(${preparationLockKey}); create schema if not exists ${quoteName(schema)}; commit`,
    )
  } catch (error) {
    throw new DatabaseStartError(
      `the schema ${schema} of the ${name} database could not be created: ${shortMessage(error)}. Create it and make this user its owner`,
      { cause: error },
    )
  }
}

async function createExtension(client: pg.Client, extension: string, log: Log): Promise<void> {
  const state = await client.query<{ installed: boolean }>(
    `select installed_version is not null as installed from pg_available_extensions where name = $1`,
    [extension],
  )
  if (state.rows[0] === undefined || state.rows[0].installed) return
  try {
    await client.query(
      `begin; select pg_advisory_xact_lock(${preparationLockKey}); create extension if not exists ${extension} with schema public; commit`,
    )
  } catch (error) {
    await client.query('rollback').catch(() => {})
    log.warn({ extension, reason: shortMessage(error) }, 'an available extension could not be created')
  }
}

function warnOfOldPgvector({ pgvectorVersion }: EngineFeatures, log: Log): void {
  if (pgvectorVersion === null || !isOlder(pgvectorVersion, [0, 8, 4])) return
  log.warn({ pgvector: pgvectorVersion }, 'this pgvector has known index bugs: update the extension to 0.8.4 or later')
}
