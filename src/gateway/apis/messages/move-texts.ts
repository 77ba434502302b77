import type { ContentBlockBody, PromptBody } from '../../../contract/gateway-v2-messages.ts'
import { toMovable } from '../../../platform/bodies/index.ts'

/**
 * Turns the long texts and media of a body into bytes, in place: they move from the thread that has read them without a copy, and both
 * forms of the request share them. Their type stays that of the schema; what reads them takes either form.
 */
export function moveBodyTexts({ messages, system }: PromptBody): void {
  if (Array.isArray(system)) moveBlocks(system as ContentBlockBody[])
  for (const message of messages) {
    if (typeof message.content === 'string') message.content = moved(message.content)
    else moveBlocks(message.content)
  }
}

function moveBlocks(blocks: ContentBlockBody[]): void {
  for (const block of blocks) {
    if (block.type === 'text') block.text = moved(block.text)
    else if (block.type === 'image' || block.type === 'document') {
      if (block.source.type === 'base64') block.source.data = moved(block.source.data)
    } else if (block.type === 'tool_result') {
      if (Array.isArray(block.content)) moveBlocks(block.content as ContentBlockBody[])
      else if (block.content !== undefined) block.content = moved(block.content)
    }
  }
}

const moved = (text: string) => toMovable(text) as string
