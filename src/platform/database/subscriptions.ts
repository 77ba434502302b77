export type OnNotification = (payload: string) => void

/** The callbacks for the NOTIFY channels of one database. They outlive its connections. */
export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions() {
  const byChannel = new Map<string, Set<OnNotification>>()
  return {
    /** True where the channel had no callback, so that LISTEN must be sent. */
    add(channel: string, onNotification: OnNotification): boolean {
      const callbacks = byChannel.get(channel) ?? new Set()
      byChannel.set(channel, callbacks)
      const isNew = callbacks.size === 0
      callbacks.add(onNotification)
      return isNew
    },
    remove(channel: string, onNotification: OnNotification): void {
      byChannel.get(channel)?.delete(onNotification)
    },
    /** All channels that were ever added: a new connection must send LISTEN for each of them. */
    channels: (): string[] => [...byChannel.keys()],
    deliver({ channel, payload = '' }: { channel: string; payload?: string | undefined }): void {
      for (const onNotification of byChannel.get(channel) ?? []) onNotification(payload)
    },
  }
}
