import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../kernel/index.ts'
import { shortMessage } from '../database-error.ts'
import { quoteName } from '../quote-name.ts'

export interface Listener {
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
  onReconnect(callback: () => void): void
  close(): Promise<void>
}

const firstRetryMs = 100
const longestRetryMs = 2_000

/** One connection for LISTEN, made at the first use and made again whenever it is lost. */
export function createListener({ name, config, log }: { name: string; config: pg.ClientConfig; log: Log }): Listener {
  const listeners = new Map<string, Set<(payload: string) => void>>()
  const callbacks: (() => void)[] = []
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
    client.on('notification', ({ channel, payload }) => {
      for (const onNotification of listeners.get(channel) ?? []) onNotification(payload ?? '')
    })
    try {
      await client.connect()
      for (const channel of listeners.keys()) await client.query(`listen ${quoteName(channel)}`)
      established = true
      return client
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
  }

  function startAgain() {
    connecting = reconnect()
    // Rejects only when the listener is closed meanwhile.
    connecting.catch(() => {})
  }

  async function reconnect(): Promise<pg.Client> {
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      await delay(waitMs, undefined, { signal: stopping.signal })
      try {
        const client = await connect()
        for (const callback of callbacks) callback()
        return client
      } catch (error) {
        log.warn({ database: name, reason: shortMessage(error) }, 'no connection for notifications yet')
      }
    }
  }

  return {
    async listen(channel, onNotification) {
      const channelListeners = listeners.get(channel) ?? new Set()
      const isNew = channelListeners.size === 0
      channelListeners.add(onNotification)
      listeners.set(channel, channelListeners)
      connecting ??= connect().catch((error: unknown) => {
        connecting = undefined
        throw error
      })
      const client = await connecting
      if (isNew) await client.query(`listen ${quoteName(channel)}`)
      return async () => {
        channelListeners.delete(onNotification)
      }
    },
    onReconnect(callback) {
      callbacks.push(callback)
    },
    async close() {
      stopping.abort()
      const client = await connecting?.catch(() => undefined)
      await client?.end()
    },
  }
}
