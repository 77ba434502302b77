import { createServer } from 'node:net'

/** Below the ports that the system chooses for `listen(0)` and for outgoing connections (32768 and above on Linux). */
const range = { from: 20_000, to: 32_000 }

/** A port of the loopback interface that is free now, for a service whose address another one must know before it starts. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  return port!
}

/**
 * Consecutive ports of the loopback interface that are free now. The system gives none of them to a connection meanwhile: a service finds
 * its port free when it starts, and when it starts again.
 */
export async function freePorts(count: number): Promise<number[]> {
  for (;;) {
    const first = range.from + Math.floor(Math.random() * (range.to - range.from - count))
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
