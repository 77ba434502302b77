export { createLog, logConsole } from './process-log.ts'
