/** Removes two rounds of entries and prints a line between them: `entry-removal-process.ts FOLDER URL BEFORE`. It is killed in the second one. */
import { writeSync } from 'node:fs'
import { openDatabases } from './statements.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { firstOrganisation, removeEntries } from '../../src/gateway/billing/retention.store.ts'

const [dataFolder, databaseUrl, before] = process.argv.slice(2) as [string, string, string]
const { control } = await openDatabases({
  dataFolder,
  databaseUrl: databaseUrl === '' ? undefined : databaseUrl,
  clock: systemClock,
  log: silentLog,
})
const remove = () => removeEntries(control, new Date(before), firstOrganisation)
await remove()
writeSync(1, 'removed\n')
await remove()
setInterval(() => {}, 60_000)
