import { useEffect, useRef } from 'react'
import { chatRoute } from '../routes.tsx'
import { answerPlaceOf, showAnswer } from './answer-place.ts'
import type { Turn } from './turn.ts'

/** Distance from the end of the page, in pixels, within which a growing answer keeps the end in view. */
const followDistance = 160

/**
 * Shows the answer of the address first, where the person comes back from a document. Later shows a new question, and follows its answer
 * while the person is at the end of the page. Returns a ref for the end of the conversation, whose parent has the answers as articles.
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
    const index = wanted.current
    if (index !== undefined && turns.length > 0) {
      wanted.current = undefined
      showAnswer(answerPlaceOf(chatId, index), end.current?.parentElement?.querySelectorAll('article')[index] ?? null)
    } else if (isNew || scrollHeight - scrollTop - clientHeight < followDistance)
      end.current?.scrollIntoView({ block: 'end' })
  }, [chatId, turns])
  return end
}
