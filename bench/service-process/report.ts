/** Loaded into the measured service before its own modules (`--import`): answers each message of the bench with a `ServiceReport`. */
import v8 from 'node:v8'
import type { Worker } from 'node:worker_threads'

export interface ServiceReport {
  /** What the start did until then: name of the part and milliseconds since the process began. */
  timeline: { name: string; atMs: number }[]
  /** Processor time of the whole process, all threads, in milliseconds. */
  processorMs: number
  /** Physical memory of each JavaScript heap, in bytes. */
  heaps: { name: string; bytes: number; usedBytes: number }[]
  /** Buffers outside of the heaps, of the main thread. */
  bufferBytes: number
}

const threads = new Set<Worker>()
process.on('worker', (worker: Worker) => {
  threads.add(worker)
  worker.once('exit', () => threads.delete(worker))
})
process.on('message', () => {
  void report().then((answer) => process.send!(answer))
})
// The channel alone does not keep the service alive, and does not outlive the bench.
process.once('disconnect', () => process.exit(0))
process.channel?.unref()

async function report(): Promise<ServiceReport> {
  const { user, system } = process.cpuUsage()
  return {
    timeline: performance.getEntriesByType('mark').map(({ name, startTime }) => ({ name, atMs: startTime })),
    processorMs: (user + system) / 1000,
    heaps: await Promise.all([
      heapOf('main thread', v8.getHeapStatistics()),
      ...[...threads].map(async (thread) => heapOf(nameOf(thread), await thread.getHeapStatistics())),
    ]),
    bufferBytes: process.memoryUsage().arrayBuffers,
  }
}

function heapOf(name: string, { total_physical_size: bytes, used_heap_size: usedBytes }: v8.HeapInfo) {
  return { name, bytes, usedBytes }
}

function nameOf(thread: Worker): string {
  return (thread as { threadName?: string | null }).threadName || 'thread'
}
