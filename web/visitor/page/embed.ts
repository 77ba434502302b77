import { type FromPage, isMessage, type ToPage } from '../loader/protocol.ts'

/** The website around this page, when it is the frame of a widget. */
export interface Embed {
  /** Its origin; frame-ancestors of this page allows only origins that an administrator has listed. */
  origin: string
  send(message: FromPage): void
  onMessage(listener: (message: ToPage) => void): void
}

/**
 * The loader states the origin of its page in the fragment of the address. A false one gains nothing: messages are sent to this origin
 * only, and accepted from the parent window with this origin only. A plain frame has no fragment; browsers name its parent too.
 */
export function findEmbed(
  place: { hash: string; ancestorOrigins?: DOMStringList },
  referrer: string,
  parent: Window | null,
): Embed | undefined {
  if (!parent) return undefined
  const actual = place.ancestorOrigins?.[0]
  const stated = place.hash === '' ? (actual ?? referrer) : decodeURIComponent(place.hash.slice(1))
  const origin = originOf(stated)
  if (origin === undefined || (actual !== undefined && actual !== origin)) return undefined
  return {
    origin,
    send: (message) => parent.postMessage({ portico: 1, ...message }, origin),
    onMessage(listener) {
      addEventListener('message', (event: MessageEvent<unknown>) => {
        if (event.origin === origin && event.source === parent && isMessage(event.data))
          listener(event.data as unknown as ToPage)
      })
    },
  }
}

function originOf(text: string): string | undefined {
  try {
    const { protocol, origin } = new URL(text)
    return /^https?:$/.test(protocol) ? origin : undefined
  } catch {
    return undefined
  }
}
