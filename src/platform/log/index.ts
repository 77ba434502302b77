export { logConsole } from './log-console.ts'
export { createLog } from './process-log.ts'
