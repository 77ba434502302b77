import { type AddressInfo, createServer } from 'node:net'

/** A port of the loopback interface that is free now, for a service whose address another one must know before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Below the ports that the system chooses for outgoing connections (32768 and above on Linux). */
const lasting = { from: 20_000, to: 32_000 }

/**
 * Consecutive ports of the loopback interface that are free now. Unlike `freePort` they are not ones that the system gives to an outgoing
 * connection meanwhile: a service that ends finds its port free when it starts again.
 */
export async function lastingPorts(count: number): Promise<number[]> {
  for (;;) {
    const first = lasting.from + Math.floor(Math.random() * (lasting.to - lasting.from - count))
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
