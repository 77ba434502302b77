import { type AskedQuestion, readAsked, writeAsked } from '../../own-chats/asked-question.ts'
import { loadOwnTurns } from '../../own-chats/own-chat-queries.ts'
import { startTurn, type Turn, toTurn } from './turn.ts'

/** An answer takes less; later, it was lost with its process. */
const longestAnswerMs = 10 * 60_000

/**
 * The stored turns of a conversation, and the question whose answer is still being written; null where the person has no such
 * conversation.
 */
export async function loadKeptTurns(spaceId: string, chatId: string, signal: AbortSignal): Promise<Turn[] | null> {
  const stored = await loadOwnTurns(spaceId, chatId, signal)
  const turns = stored?.map(toTurn) ?? []
  const asked = readAsked(chatId)
  if (!asked) return stored && turns
  if (isStored(turns, asked)) {
    writeAsked(chatId, undefined)
    return turns
  }
  return [...turns, toWaiting(asked)]
}

function isStored(turns: readonly Turn[], { requestId, question }: AskedQuestion): boolean {
  if (requestId !== undefined) return turns.some((turn) => turn.requestId === requestId)
  return turns.at(-1)?.question === question
}

function toWaiting({ question, requestId, startedAt }: AskedQuestion): Turn {
  const turn = { ...startTurn(question, { inlineSources: true, agentic: false }), requestId, startedAt }
  if (Date.now() - startedAt < longestAnswerMs) return { ...turn, isElsewhere: true }
  return { ...turn, status: 'failed', error: { code: 'no_connection', message: '' } }
}
