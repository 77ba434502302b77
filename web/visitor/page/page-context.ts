import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { SiteConfigBody, VisitBody, VisitReference } from '@contract/site-visits.ts'
import type { Texts } from '../texts/en.ts'
import type { Chat } from './chat.ts'
import type { Citation, CitedPassage } from './citation.tsx'
import type { Embed } from './embed.ts'
import type { Visits } from './visit.ts'

/** What most parts of the page need. */
export interface PageContext {
  texts: Texts
  /** For dates. */
  locale: string
  config: SiteConfigBody
  visit: VisitBody
  visits: Visits
  chat: Chat
  /** The frame in a website; undefined on the share page. */
  embed: Embed | undefined
  showCitation(citation: Citation, anchor: Element): void
  showDocument(reference: VisitReference, passage: CitedPassage): void
}

export const Context = createContext<PageContext | undefined>(undefined)

export function usePage(): PageContext {
  return useContext(Context)!
}
