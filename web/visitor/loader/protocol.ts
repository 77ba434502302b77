/** Messages between the loader in a website and the page in its frame. Each side checks the origin and the window of every message. */

export type FromPage =
  /** The page listens. */
  | { type: 'ready' }
  /** The visitor wants to go back to the website. */
  | { type: 'close' }
  /** Colours of the launcher, from the settings of the Space. */
  | { type: 'theme'; fill: string; onFill: string; title: string }
  /** Answers that arrived while the panel was closed. */
  | { type: 'unread'; count: number }

export type ToPage =
  | { type: 'open' }
  | { type: 'closed' }
  /** The colour scheme that the website asks for. */
  | { type: 'theme'; scheme: 'light' | 'dark' | 'auto' }

export function isMessage(data: unknown): data is { portico: 1; type: string } {
  return typeof data === 'object' && data !== null && 'portico' in data && data.portico === 1
}
