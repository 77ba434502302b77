import type { OwnChatBody, OwnChatTurnBody } from '../../../contract/own-chats.ts'
import type { OwnChat, StoredOwnTurn } from './own-chats.store.ts'
import type { ChatPart } from './own-chats.ts'

export function renderOwnChat({ firstAt, lastAt, ...chat }: OwnChat): OwnChatBody {
  return { ...chat, firstAt: firstAt.toISOString(), lastAt: lastAt.toISOString() }
}

export function renderOwnTurn({ at, references, ...turn }: StoredOwnTurn): OwnChatTurnBody {
  return { ...turn, at: at.toISOString(), references: references as OwnChatTurnBody['references'] }
}

/** One JSON document: `{"conversations": […]}`, each with its turns. */
export async function* renderJson(parts: AsyncIterable<ChatPart>) {
  yield '{"conversations":['
  let separator = ''
  let isOpen = false
  for await (const { chat, isFirst, turns } of parts) {
    if (isFirst) {
      if (isOpen) yield ']}'
      yield `${separator}\n${JSON.stringify(renderOwnChat(chat)).slice(0, -1)},"answers":[`
      separator = ','
      isOpen = true
    }
    const texts = turns.map((turn) => JSON.stringify(renderOwnTurn(turn)))
    if (texts.length > 0) yield `${isFirst ? '' : ','}${texts.join(',')}`
  }
  yield `${isOpen ? ']}' : ''}\n]}\n`
}

/** A heading for each conversation, the questions as quotes, the answers as they are, and the documents that they cite. */
export async function* renderMarkdown(parts: AsyncIterable<ChatPart>) {
  for await (const { chat, isFirst, turns } of parts)
    yield [...(isFirst ? [`# ${inLine(chat.title)}\n`] : []), ...turns.map(renderTurnAsMarkdown)].join('\n')
}

function renderTurnAsMarkdown({ at, model, question, answer, references, outcome }: StoredOwnTurn): string {
  const quoted = question
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
  const cited = references.map(({ id, title, url }) => `- [${id}] ${inLine(title)}${url ? ` <${url}>` : ''}`)
  const facts = [at.toISOString(), model, ...(outcome === 'complete' ? [] : [outcome])].join(' · ')
  return [quoted, `*${facts}*`, answer, ...(cited.length > 0 ? [cited.join('\n')] : [])].join('\n\n').concat('\n\n')
}

const inLine = (text: string) => text.replaceAll(/\s+/gu, ' ').trim()
