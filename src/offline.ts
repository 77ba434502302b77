import { text } from 'node:stream/consumers'
import { DatabaseStartError } from './database/index.ts'
import { BackupError } from './backup/index.ts'
import { backUpOffline, restoreOffline } from './offline/backups.ts'

/**
 * The program that works on a data folder without a service. The command line writes one JSON object to its standard input (it may
 * contain a secret key), and reads lines of JSON from its standard output: `{"progress": …}`, and at the end `{"result": …}` or `{"error": …}`.
 */

const tasks = { backup: backUpOffline, restore: restoreOffline }

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
  const isExpected = error instanceof BackupError || error instanceof DatabaseStartError || code !== undefined
  if (!isExpected) process.stderr.write(`${(error as Error).stack}\n`)
}
