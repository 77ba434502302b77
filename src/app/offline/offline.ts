import { text } from 'node:stream/consumers'
import { JournalError } from '../../gateway/billing/index.ts'
import { ConfigError } from '../config/index.ts'
import { ModelInstallError } from '../../documents/retrieval/index.ts'
import { DatabaseStartError, MoveError } from '../../platform/database/index.ts'
import { BackupError } from '../backup/index.ts'
import { backUpOffline, restoreOffline } from './backups.ts'
import { installEmbedder } from './install-embedder.ts'
import { moveToPostgres } from './move.ts'

/**
 * The program that works on a data folder without a service. The command line writes one JSON object to its standard input (it may
 * contain a secret key), and reads lines of JSON from its standard output: `{"progress": …}`, and at the end `{"result": …}` or `{"error": …}`.
 */

const tasks = { backup: backUpOffline, restore: restoreOffline, move: moveToPostgres, embedder: installEmbedder }

const expected = [BackupError, ConfigError, DatabaseStartError, JournalError, ModelInstallError, MoveError]

type TaskName = keyof typeof tasks

function post(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

try {
  const { task, ...options } = JSON.parse(await text(process.stdin)) as { task: TaskName } & Record<string, never>
  const result = await tasks[task](options as never, (progress) => post({ progress }))
  post({ result })
} catch (error) {
  process.exitCode = 1
  const { message, code } = error as NodeJS.ErrnoException
  post({ error: { message } })
  // Errors of the file system name the file and the reason.
  const isExpected = code !== undefined || expected.some((kind) => error instanceof kind)
  if (!isExpected) process.stderr.write(`${(error as Error).stack}\n`)
}
