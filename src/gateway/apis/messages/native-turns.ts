import type { ContentBlockBody, MessageBody } from '../../../contract/gateway-v2-messages.ts'
import { isObject } from '../../../platform/kernel/index.ts'
import { unwrapReplay } from '../../providers/index.ts'
import { isReasoning, tokenOf } from './map-turns.ts'

/**
 * The messages for a host of this API. What another provider has made in earlier turns is left out: reasoning, unsigned thinking and
 * citations of searches, because the host verifies them.
 */
export function toNativeTurns(messages: readonly MessageBody[]): MessageBody[] {
  return messages.map((message) => {
    const { role, content } = message
    if (role !== 'assistant' || typeof content === 'string') return message
    if (!content.some((block) => isReasoning(block) || isCited(block))) return message
    return { role, content: content.flatMap(ownReasoning).map(withoutForeignCitations) }
  })
}

const isCited = (block: ContentBlockBody) => block.type === 'text' && block.citations !== undefined

function withoutForeignCitations(block: ContentBlockBody): ContentBlockBody {
  if (block.type !== 'text' || !block.citations) return block
  const citations = block.citations.filter((citation) => !(isObject(citation) && citation.encrypted_index === ''))
  return { ...block, citations: citations.length > 0 ? citations : undefined }
}

function ownReasoning(block: ContentBlockBody): ContentBlockBody[] {
  if (!isReasoning(block)) return [block]
  const token = tokenOf(block)
  if (token === '') return []
  const replay = unwrapReplay(token)
  if (!replay) return [block]
  // A client can forge a token: nothing but reasoning comes out of it.
  return replay.format === 'anthropic' ? (replay.blocks as unknown as ContentBlockBody[]).filter(isReasoning) : []
}
