import { useEffect, useRef } from 'react'
import { chatRoute } from '../routes.tsx'
import { answerPlaceOf, showAnswer } from './answer-place.ts'
import { isRunning, type Turn } from './turn.ts'

/** Distance from the end of the page, in pixels, within which a growing answer keeps the end in view. */
const followDistance = 160

/**
 * Shows the answer of the address first, where the person comes back from a document, else the end of a stored conversation. Later shows a new question, and
 * follows its answer while the person is at the end of the page. Returns a ref for the end of the conversation, whose parent has the answers as articles.
 */
export function useShownPlace(chatId: string | undefined, turns: readonly Turn[]) {
  const { turn } = chatRoute.useSearch()
  const end = useRef<HTMLDivElement>(null)
  const wanted = useRef(turn)
  const shown = useRef({ chatId, count: turns.length })
  useEffect(() => {
    const { scrollHeight, scrollTop, clientHeight } = document.documentElement
    const isNew = turns.length > (shown.current.chatId === chatId ? shown.current.count : 0)
    shown.current = { chatId, count: turns.length }
    const log = end.current?.parentElement
    const index = wanted.current
    const showEnd = () => end.current?.scrollIntoView({ block: 'end' })
    if (log && index !== undefined && turns.length > 0) {
      wanted.current = undefined
      return holdPlace(log, () =>
        showAnswer(answerPlaceOf(chatId, index), log.querySelectorAll('article')[index] ?? null),
      )
    }
    if (log && isNew && !turns.some(isRunning))
      return holdPlace(log, () => window.scrollTo(0, document.documentElement.scrollHeight))
    if (isNew || scrollHeight - scrollTop - clientHeight < followDistance) showEnd()
    return undefined
  }, [chatId, turns])
  return end
}

const actions = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

/** Repeats `show` while stored answers are laid out, until the person does something. Returns what ends it. */
function holdPlace(element: Element, show: () => void): () => void {
  const observer = new ResizeObserver(show)
  const stop = () => {
    observer.disconnect()
    for (const action of actions) window.removeEventListener(action, stop)
  }
  for (const action of actions) window.addEventListener(action, stop, { passive: true })
  show()
  observer.observe(element)
  return stop
}
