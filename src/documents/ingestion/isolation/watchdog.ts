import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import { residentBytes } from '../../../platform/kernel/memory.ts'
import { processorMs } from './processor-time.ts'
import { lifelineDescriptor, memoryMark, timeMark } from './protocol.ts'

/**
 * A thread next to the extraction that ends the whole process when the pool's process is gone or a limit is passed. It
 * is a thread because the main one may be inside a parser that never returns. SIGKILL, because no other signal is certain to end it.
 */
const checkEveryMs = 25
/** Resident bytes, and processor time. Shared with the main thread, which sets them for each file; infinite while no file is read. */
const limits = new Float64Array(workerData as SharedArrayBuffer)

const lifeline = new Socket({ fd: lifelineDescriptor, readable: true, writable: false })
lifeline.on('close', () => process.kill(process.pid, 'SIGKILL'))
lifeline.on('error', () => process.kill(process.pid, 'SIGKILL'))
lifeline.resume()

setInterval(() => {
  if (residentBytes() > limits[0]!) end(memoryMark)
  // Without what these checks take, which counts in a long wait for a slow consumer.
  const { user, system } = process.threadCpuUsage()
  if (processorMs() - (user + system) / 1_000 > limits[1]!) end(timeMark)
}, checkEveryMs)

function end(mark: string) {
  try {
    writeSync(lifelineDescriptor, mark)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}
