import { appendFileSync, readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { afterAll, beforeAll, expect } from 'vitest'
import { referenceMs } from './fixed-computation.ts'

/**
 * Writes the processor time of each test file, with its ended child processes, to the file that PORTICO_TEST_TIMES names: a line
 * `SECONDS REFERENCE FILE`, where REFERENCE is the time of a fixed computation in milliseconds, because processors differ. Modules that the
 * process has loaded before count for no file.
 */
const file = process.env['PORTICO_TEST_TIMES']
/** USER_HZ of Linux, proc(5). */
const ticksPerSecond = 100
let before = 0

beforeAll(() => {
  before = processorSeconds()
})

afterAll(() => {
  if (file !== undefined)
    appendFileSync(
      file,
      `${(processorSeconds() - before).toFixed(2)} ${referenceMs().toFixed(2)} ${expect.getState().testPath}\n`,
    )
  // Node.js writes its cache of compiled code (NODE_COMPILE_CACHE, see bin/run) when a process ends by itself; vitest ends its processes
  // with a signal.
  flushCompileCache()
})

/** Of this process and its ended children. */
function processorSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    // Fields 14 to 17 of proc(5); the name, field 2, may contain blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  } catch {
    // Not Linux: without the children.
    return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
  }
}
