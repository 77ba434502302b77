import { prepareTemplate } from './database-template.ts'

/** Makes, once a run, what every test copies: a database with all migrations. Returns what takes it away again. */
export default function setUp(): Promise<() => Promise<void>> {
  return prepareTemplate()
}
