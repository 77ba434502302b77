export type OnNotification = (payload: string) => void

/** The callbacks for the NOTIFY channels of one database. They outlive its connections. */
export interface Subscriptions {
  /** True where the channel had no callback, so that LISTEN must be sent. */
  add(channel: string, onNotification: OnNotification): boolean
  remove(channel: string, onNotification: OnNotification): void
  /** All channels that were ever added: a new connection must send LISTEN for each of them. */
  channels(): string[]
  deliver(notification: { channel: string; payload?: string | undefined }): void
}

export function createSubscriptions(): Subscriptions {
  const byChannel = new Map<string, Set<OnNotification>>()
  return {
    add(channel, onNotification) {
      const callbacks = byChannel.get(channel) ?? new Set()
      byChannel.set(channel, callbacks)
      const isNew = callbacks.size === 0
      callbacks.add(onNotification)
      return isNew
    },
    remove(channel, onNotification) {
      byChannel.get(channel)?.delete(onNotification)
    },
    channels: () => [...byChannel.keys()],
    deliver({ channel, payload = '' }) {
      for (const onNotification of byChannel.get(channel) ?? []) onNotification(payload)
    },
  }
}
