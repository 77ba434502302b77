import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../kernel/index.ts'
import { shortMessage } from '../database-error.ts'
import { quoteName } from '../quote-name.ts'
import type { SessionSource } from '../session.ts'
import { createSubscriptions } from '../subscriptions.ts'

export type Listener = Pick<SessionSource, 'listen' | 'onReconnect' | 'close'>

const firstRetryMs = 100
const longestRetryMs = 2_000

/** One connection for LISTEN: opened at the first use, reopened with backoff after each loss. */
export function createListener({ name, config, log }: { name: string; config: pg.ClientConfig; log: Log }): Listener {
  const subscriptions = createSubscriptions()
  const reconnectCallbacks: (() => void)[] = []
  const stopping = new AbortController()
  let connecting: Promise<pg.Client> | undefined

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client(config)
    let established = false
    const onLost = (error?: Error) => {
      if (!established) return
      established = false
      if (stopping.signal.aborted) return
      log.warn({ database: name, reason: shortMessage(error ?? 'closed') }, 'the connection for notifications was lost')
      startAgain()
    }
    client.on('error', onLost)
    client.on('end', () => onLost())
    client.on('notification', subscriptions.deliver)
    try {
      await client.connect()
      for (const channel of subscriptions.channels()) await client.query(`listen ${quoteName(channel)}`)
      established = true
      return client
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
  }

  function startAgain() {
    connecting = reconnect()
    // Rejects only when the listener is closed.
    connecting.catch(() => {})
  }

  async function reconnect(): Promise<pg.Client> {
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      await delay(waitMs, undefined, { signal: stopping.signal })
      try {
        const client = await connect()
        for (const callback of reconnectCallbacks) callback()
        return client
      } catch (error) {
        log.warn({ database: name, reason: shortMessage(error) }, 'no connection for notifications yet')
      }
    }
  }

  return {
    async listen(channel, onNotification) {
      const isNew = subscriptions.add(channel, onNotification)
      connecting ??= connect().catch((error: unknown) => {
        connecting = undefined
        throw error
      })
      const client = await connecting
      if (isNew) await client.query(`listen ${quoteName(channel)}`)
      return async () => subscriptions.remove(channel, onNotification)
    },
    onReconnect(callback) {
      reconnectCallbacks.push(callback)
    },
    async close() {
      stopping.abort()
      const client = await connecting?.catch(() => undefined)
      await client?.end()
    },
  }
}
