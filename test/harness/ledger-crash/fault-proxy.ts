import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a PostgreSQL server that simulates network failures. */
export interface FaultProxy {
  /** The server's URL with the proxy's address in it. */
  url: string
  /** Ends every connection; new ones are accepted. */
  cut(): void
  /** Drops everything in both directions, on new connections too, until `resume`. */
  hang(): void
  /** Drops requests with this text and what follows them on their connections, until `resume`. */
  ignore(text: string): void
  resume(): void
  /** Drops the next `count` replies to statements with this text, after they took effect, and their connections. Resolves then. */
  loseAnswers(text: string, count: number): Promise<void>
  close(): Promise<void>
}

/** ReadyForQuery outside a transaction: everything that was sent before is committed. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const target = new URL(serverUrl)
  const pairs = new Set<readonly [Socket, Socket]>()
  let isHanging = false
  let ignored: string | undefined
  let losing: { text: string; left: number; done(): void } | undefined

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const pair = [client, upstream] as const
    pairs.add(pair)
    let isMarked = false
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    client.on('data', (bytes) => {
      if (ignored !== undefined && bytes.includes(ignored)) return void client.pause()
      if (losing && bytes.includes(losing.text)) isMarked = true
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isMarked || !losing || !bytes.subarray(-readyForQuery.length).equals(readyForQuery)) {
        client.write(bytes)
        return
      }
      losing.left -= 1
      if (losing.left === 0) {
        losing.done()
        losing = undefined
      }
      end()
    })
    if (isHanging) for (const socket of pair) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  return {
    url: url.href,
    cut() {
      for (const [client] of pairs) client.destroy()
    },
    hang() {
      isHanging = true
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    ignore(text) {
      ignored = text
    },
    resume() {
      isHanging = false
      ignored = undefined
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    loseAnswers(text, count) {
      return new Promise((done) => {
        losing = { text, left: count, done }
      })
    },
    async close() {
      for (const [client] of pairs) client.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
