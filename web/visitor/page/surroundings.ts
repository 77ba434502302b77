import type { Chat } from './chat.ts'
import type { Embed } from './embed.ts'

type Scheme = 'light' | 'dark'

/** Calls `apply` with the colour scheme of the visitor, or the one that the website asks for, now and after each change. */
export function watchScheme(embed: Embed | undefined, apply: (scheme: Scheme) => void): void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  let wanted: Scheme | 'auto' = 'auto'
  const update = () => {
    const scheme = wanted === 'auto' ? (dark.matches ? 'dark' : 'light') : wanted
    document.documentElement.style.setProperty('color-scheme', scheme)
    apply(scheme)
  }
  dark.addEventListener('change', update)
  embed?.onMessage((message) => {
    if (message.type !== 'theme') return
    wanted = message.scheme === 'light' || message.scheme === 'dark' ? message.scheme : 'auto'
    update()
  })
  update()
}

/** What the browser itself closes by Escape, after the event. It has the focus only some time after it is shown. */
const closedByEscape = ':popover-open, dialog:modal'

/** Informs the loader that the page listens. Escape closes the panel. */
export function joinWebsite(embed: Embed | undefined): void {
  if (!embed) return
  embed.send({ type: 'ready' })
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    if (document.querySelector(closedByEscape) === null) embed.send({ type: 'close' })
  })
}

/** The launcher shows how many answers arrived while the panel was closed. */
export function countUnread(embed: Embed | undefined, chat: Chat): void {
  if (!embed) return
  let isOpen = true
  let wasRunning = false
  let count = 0
  embed.onMessage(({ type }) => {
    if (type !== 'open' && type !== 'closed') return
    isOpen = type === 'open'
    count = 0
  })
  chat.onChange(() => {
    const isRunning = chat.isRunning()
    if (wasRunning && !isRunning && !isOpen) embed.send({ type: 'unread', count: ++count })
    wasRunning = isRunning
  })
}
