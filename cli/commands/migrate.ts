import type { CliCommand } from '../define.ts'
import { runOffline } from '../offline.ts'

type MovedRows = { table: string; rows: number; sha256: string }[]

interface MoveReport {
  control: MovedRows
  corpus: MovedRows
  files: { store: string; found: number; uploaded: number; missing: string[] }
}

/** `portico migrate` */
export function addMigrateCommands(program: CliCommand): void {
  program
    .command('migrate')
    .description('Move the data of an installation.')
    .command('embedded-to-postgres')
    .description(
      'Move the embedded databases to the PostgreSQL server of DATABASE_URL. The service must be stopped. After an interruption, run it again: it continues.',
    )
    .examples('portico migrate embedded-to-postgres')
    .run(async (context) => {
      const { output } = context
      const report = await runOffline<MoveReport>(context, { task: 'move' })
      output.result(report, () => {
        for (const name of ['control', 'corpus'] as const) {
          output.table(
            [name, 'ROWS', 'HASH'],
            report[name].map(({ table, rows, sha256 }) => [table, rows, sha256.slice(0, 16)]),
            '',
          )
          output.line()
        }
        const { store, found, uploaded, missing } = report.files
        output.fields([['uploaded files', `${found} in ${store}, ${uploaded} uploaded to it now`]])
        if (missing.length > 0) output.line(`The files of these documents are missing: ${missing.join(', ')}`)
        output.line(
          'All rows are the same on both sides. Start the service with the same DATABASE_URL and secret key, and run: portico audit',
        )
      })
    })
}
