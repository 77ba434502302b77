import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Context, readTextFile } from '../context.ts'
import type { CliCommand } from '../define.ts'
import { UsageError } from '../errors.ts'
import { runOffline } from '../offline.ts'
import { saveStream } from '../save-stream.ts'

interface ArchiveFacts {
  portico: string
  consistentAt: string
  files: number
  bytes: number
  schemas: { control: string | null; corpus: string | null }
  secretKey: string
  blobs: string | null
}

interface BackupOptions {
  dataFolder?: string
}

interface RestoreOptions {
  dataFolder?: string
  secretKeyFile?: string
  withoutSecretKey?: boolean
  check?: boolean
}

const keyWarning =
  'The secret key is not in the backup. Without it the keys of providers, the secrets of webhooks and second factors cannot be decrypted. Keep a copy of PORTICO_SECRET_KEY, or of the file secret.key in the data folder, in another place.'

/** `portico backup` and `portico restore` */
export function addBackupCommands(program: CliCommand): void {
  program
    .command('backup')
    .description(
      'Back up all data of the embedded database into one archive, while the service runs or from its folder.',
    )
    .argument('<file>', 'the archive; it must not exist')
    .option('--data-folder <folder>', 'read this data folder of a stopped service instead of calling the service')
    .examples('portico backup portico-2026-11-22.tar', 'portico backup portico.tar --data-folder data')
    .run(async (context, options: BackupOptions, file: string) => {
      const facts = await backUp(context, path.resolve(file), options)
      context.output.result(facts, () => {
        context.output.line(`${file} is complete.`)
        show(context, facts)
      })
      context.output.note(keyWarning)
    })
  program
    .command('restore')
    .description('Restore a backup into an empty data folder. The service must not run there.')
    .argument('<file>', 'the archive')
    .option('--data-folder <folder>', 'the data folder; empty or new')
    .option('--secret-key-file <file>', 'file with the secret key of the backup, which is written into the data folder')
    .option('--without-secret-key', 'the key comes from PORTICO_SECRET_KEY of the service, or is lost')
    .option('--check', 'read and check the whole archive, and write nothing')
    .examples(
      'portico restore portico.tar --data-folder data --secret-key-file secret.key',
      'portico restore portico.tar --check',
    )
    .run(async (context, options: RestoreOptions, file: string) => {
      const facts = await runOffline<ArchiveFacts>(context, restoreTask(file, options))
      context.output.result(facts, () => {
        context.output.line(options.check ? `${file} is complete.` : `${options.dataFolder} is restored.`)
        show(context, facts)
      })
    })
}

function restoreTask(file: string, options: RestoreOptions): Record<string, unknown> {
  const task = { task: 'restore', archive: path.resolve(file) }
  if (options.check) return task
  const { dataFolder, secretKeyFile, withoutSecretKey } = options
  if (dataFolder === undefined)
    throw new UsageError('Name the folder: --data-folder FOLDER, or --check to write nothing.')
  if ((secretKeyFile === undefined) === (withoutSecretKey === undefined)) {
    throw new UsageError(
      'The backup does not contain the secret key. Give --secret-key-file FILE, or --without-secret-key if the service gets it as PORTICO_SECRET_KEY.',
    )
  }
  const secretKey = secretKeyFile === undefined ? undefined : readTextFile(secretKeyFile, '--secret-key-file').trim()
  return { ...task, dataFolder: path.resolve(dataFolder), secretKey }
}

async function backUp(context: Context, target: string, { dataFolder }: BackupOptions): Promise<ArchiveFacts> {
  if (existsSync(target)) throw new UsageError(`${target} exists already. Name another file.`)
  if (dataFolder !== undefined) {
    const secretKey = context.process.environment['PORTICO_SECRET_KEY']
    return runOffline(context, { task: 'backup', dataFolder: path.resolve(dataFolder), target, secretKey })
  }
  const unfinished = `${target}.unfinished`
  await download(context, unfinished)
  try {
    const facts = await runOffline<ArchiveFacts>(context, { task: 'restore', archive: unfinished })
    await rename(unfinished, target)
    return facts
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

async function download(context: Context, file: string): Promise<void> {
  await saveStream(context, await context.operator().fetch('POST', '/api/backup', {}), file, 'backup')
}

function show({ output }: Context, facts: ArchiveFacts): void {
  output.fields([
    ['as of', facts.consistentAt],
    ['files', facts.files],
    ['bytes', facts.bytes],
    ['Portico', facts.portico],
    ['control schema', facts.schemas.control],
    ['corpus schema', facts.schemas.corpus],
    ['secret key', facts.secretKey],
    ['uploaded files', facts.blobs === null ? 'in the archive' : `not in the archive: ${facts.blobs}`],
  ])
}
