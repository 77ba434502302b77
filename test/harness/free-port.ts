import { type AddressInfo, createServer } from 'node:net'

/** A port of the loopback interface that is free now, for a service whose address another one must know before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
