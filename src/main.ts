import { importProcess } from './bundle.ts'

/** The entry: runs the service. */
const { runProcess } = await importProcess()
await runProcess()
