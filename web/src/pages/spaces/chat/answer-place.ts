import { createContext } from 'react'

/** Where an answer is, for the way back from a document: `CONVERSATION.TURN`, or `tab.TURN` for one that is not stored. */
export const AnswerPlace = createContext<string | undefined>(undefined)

export const answerPlaceOf = (chatId: string | undefined, turn: number) => `${chatId ?? 'tab'}.${turn}`

const pattern = /^(tab|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,6})$/

/** The search of the chat page that leads back; undefined where the text is none. */
export function readAnswerPlace(text: unknown): { conversation?: string; turn: number } | undefined {
  const [, chatId = 'tab', turn] = pattern.exec(String(text)) ?? []
  if (turn === undefined) return undefined
  return { ...(chatId === 'tab' ? {} : { conversation: chatId }), turn: Number(turn) }
}

const key = 'portico-answer-place'

/** Remembers how far the page was scrolled when the person left an answer. */
export function noteScroll(place: string): void {
  sessionStorage.setItem(key, JSON.stringify({ place, top: window.scrollY }))
}

/** Shows an answer as the person left it, else its beginning. */
export function showAnswer(place: string, element: Element | null): void {
  const noted = JSON.parse(sessionStorage.getItem(key) ?? 'null') as { place: string; top: number } | null
  if (noted?.place === place) window.scrollTo({ top: noted.top })
  else element?.scrollIntoView({ block: 'start' })
}
