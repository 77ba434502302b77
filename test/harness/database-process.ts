/**
 * A process that tests kill: `database-process.ts commit|work|hold DATA_FOLDER [DATABASE_URL [DIRECT_URL]]`. It writes to
 * standard output, a line each, what it has done; every line must still be true after it was killed.
 */
import { openDatabases } from './statements.ts'
import { createJobQueue } from '../../src/platform/jobs/index.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'

const [task, dataFolder, databaseUrl, databaseDirectUrl] = process.argv.slice(2)

function printLine(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()))
}

try {
  const databases = await openDatabases({
    dataFolder: dataFolder!,
    databaseUrl,
    databaseDirectUrl,
    clock: systemClock,
    log: silentLog,
  })
  if (task === 'commit') {
    for (;;) {
      const [row] = await databases.control.query<{ id: bigint }>('insert into committed default values returning id')
      await printLine(String(row!.id))
    }
  }
  if (task === 'work') {
    const queue = createJobQueue({ database: databases.corpus, clock: systemClock, log: silentLog })
    const options = { concurrency: 2, maximumAttempts: 3, backoffMs: 1, onExhausted: async () => {} }
    queue.work('survivor', options, async (job) => {
      await printLine(job.key)
      await new Promise(() => {})
    })
  }
  if (task === 'hold') await printLine('open')
  // Only a kill ends it.
  setInterval(() => {}, 1_000)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`)
  process.exitCode = 1
}
