import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import type { InstanceFacts, LedgerService } from '../../gateway/billing/index.ts'
import { type Config, ConfigError } from '../config/index.ts'
import { describeError, type Log, type Role } from '../../platform/kernel/index.ts'

/** Below the folder of uploaded files. The blob store leaves out names that begin with a dot. */
const idFile = '.store-id'

/** What this process states about itself to the others on a server. */
export async function describeInstance(config: Config): Promise<InstanceFacts> {
  const { role } = config.settings.server
  const hasFiles = role !== 'gateway' && config.secrets.databaseUrl !== undefined
  return {
    role,
    name: `${hostname()}:${process.pid}`,
    fileStore: hasFiles ? await identifyFileStore(config) : null,
  }
}

/** Equal for the same bucket and for the same folder, however each machine names it: a folder has a file with a random id. */
async function identifyFileStore({ settings }: Config): Promise<string> {
  const { blobs } = settings.documents
  if (blobs.kind === 's3') return `s3 ${blobs.endpoint ?? ''} ${blobs.bucket ?? ''} ${blobs.prefix ?? ''}`
  const folder = path.join(settings.dataFolder, 'blobs')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, idFile)
  const made = `${file}.${randomUUID()}`
  await writeFile(made, randomUUID(), { mode: 0o600 })
  // Of processes that start at once the first one names the folder, and no reader sees half a file.
  await link(made, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(made, { force: true })
  return `folder ${(await readFile(file, 'utf8')).trim()}`
}

/**
 * Throws ConfigError where a process with the role `api` or `worker` stores its files elsewhere than another process that is alive: the
 * worker would not find what was uploaded. Between processes that do everything it is a warning.
 */
export async function assertSharedFiles(
  { role, fileStore }: InstanceFacts,
  ledger: Pick<LedgerService, 'instanceId' | 'loadLiveInstances'>,
  log: Log,
): Promise<void> {
  if (fileStore === null) return
  const live = await ledger.loadLiveInstances().catch((error: unknown) => {
    log.warn({ error: describeError(error) }, 'it was not checked whether all instances share the uploaded files')
    return []
  })
  const other = live.find(
    (instance) =>
      instance.id !== ledger.instanceId() && instance.fileStore !== null && instance.fileStore !== fileStore,
  )
  if (!other) return
  const message = describeSplit(other.role ?? 'all', other.name)
  if (role === 'all' && (other.role ?? 'all') === 'all') log.warn({ instance: other.name }, message)
  else throw new ConfigError(message)
}

function describeSplit(role: Role, name: string | null): string {
  return (
    `uploaded files are stored elsewhere than those of the process ${name} (role ${role}), which is alive or was 10 seconds ago. ` +
    'All processes need the same S3 bucket (documents.blobs), or the same folder blobs in PORTICO_DATA_DIR.'
  )
}
