import { importProcess } from './app/bundle.ts'

/** The entry: runs the service. */
const { runProcess } = await importProcess()
await runProcess()
