import { existsSync, globSync } from 'node:fs'
import type { SeenRoutes } from '../test/harness/seen-routes.ts'
import { readJsonLines } from '../test/harness/shared-data.ts'

/**
 * Prints the console's test files that CI repeats on PostgreSQL, one per line. `list-console-tests.ts CONSOLE POSTGRES`: the routes that the
 * console's tests called on the embedded engine, and those that all other tests called on PostgreSQL, each with success.
 *
 * Pages show only what routes answer. A file is left out when each route that it called has answered a test on PostgreSQL. A file without
 * notes is printed, and so is the way of a newcomer through the whole product.
 */
const always = 'test/console/newcomer.test.ts'
const [consoleNotes = '', postgresNotes = ''] = process.argv.slice(2)

const read = (file: string) => (existsSync(file) ? readJsonLines<SeenRoutes>(file) : [])
const onPostgres = new Set(read(postgresNotes).flatMap(({ routes }) => routes))
const notes = read(consoleNotes)
for (const file of globSync('test/console/*.test.ts').toSorted()) {
  const own = notes.filter((note) => note.file === file)
  const missing = [...new Set(own.flatMap(({ routes }) => routes))].filter((route) => !onPostgres.has(route))
  if (own.length > 0 && missing.length === 0 && file !== always) continue
  if (file !== always)
    console.error(`${file}: ${own.length === 0 ? 'no notes' : `not called on PostgreSQL: ${missing.join(', ')}`}`)
  console.log(file)
}
