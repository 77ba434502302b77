import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import { residentBytes } from '../../kernel/memory.ts'
import { lifelineDescriptor, memoryMark } from './protocol.ts'

/**
 * A thread next to the extraction that ends the whole process when the pool's process is gone or the memory limit is passed. It
 * is a thread because the main one may be inside a parser that never returns. SIGKILL, because no other signal is certain to end it.
 */
const checkEveryMs = 25
/** Shared with the main thread, which sets it for each file; infinite while no file is read. */
const limitBytes = new Float64Array(workerData as SharedArrayBuffer)

const lifeline = new Socket({ fd: lifelineDescriptor, readable: true, writable: false })
lifeline.on('close', () => process.kill(process.pid, 'SIGKILL'))
lifeline.on('error', () => process.kill(process.pid, 'SIGKILL'))
lifeline.resume()

setInterval(() => {
  if (residentBytes() <= limitBytes[0]!) return
  try {
    writeSync(lifelineDescriptor, memoryMark)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}, checkEveryMs)
