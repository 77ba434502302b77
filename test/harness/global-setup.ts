import { prepareTemplate } from './database-template.ts'

/** Makes the database with all migrations that every test copies, once per run. Resolves to a function that removes it. */
export default function setUp(): Promise<() => Promise<void>> {
  return prepareTemplate()
}
