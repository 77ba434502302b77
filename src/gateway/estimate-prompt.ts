import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ProviderMessage, ProviderRequest } from '../providers/index.ts'
import { estimateTokens, type TokenEstimate } from '../tokens/index.ts'

/** Role markers and separators; the compatible API's own guide says 3 to 4, providers' templates go up to about 10. */
const perMessage: TokenEstimate = { estimate: 4, bound: 12 }
const perPrompt: TokenEstimate = { estimate: 3, bound: 32 }
/** UTF-16 units that are read in one turn of the event loop, about 10 ms. The largest prompt has 33 million. */
const unitsPerTurn = 400_000

/** Estimate and bound of a prompt without a tokenizer run. Yields to other requests between parts of a large prompt. */
export async function estimatePrompt({
  messages,
  tools = [],
}: Pick<ProviderRequest, 'messages' | 'tools'>): Promise<TokenEstimate> {
  const parts: TokenEstimate[] = tools.length === 0 ? [] : [estimateTokens(JSON.stringify(tools))]
  let start = 0
  let units = 0
  for (const [index, message] of messages.entries()) {
    if (units + message.content.length > unitsPerTurn) {
      parts.push(estimateMessages(messages.slice(start, index)))
      start = index
      units = 0
      await nextTurn()
    }
    units += message.content.length
  }
  parts.push(estimateMessages(messages.slice(start)))
  return sumOf([perPrompt, ...parts])
}

/** The same synchronously, for prompts that are known to be small. */
export function estimateSmallPrompt(messages: readonly ProviderMessage[]): TokenEstimate {
  return sumOf([perPrompt, estimateMessages(messages)])
}

function estimateMessages(messages: readonly ProviderMessage[]): TokenEstimate {
  return sumOf(
    messages.flatMap(({ content, toolCalls = [], replay }) => [
      perMessage,
      estimateTokens(content),
      ...toolCalls.map((call) => ({ estimate: 0, bound: Buffer.byteLength(call.argumentsJson) + call.name.length })),
      ...(replay ? [{ estimate: 0, bound: Buffer.byteLength(JSON.stringify(replay.blocks)) }] : []),
    ]),
  )
}

function sumOf(parts: readonly TokenEstimate[]): TokenEstimate {
  const total = { estimate: 0, bound: 0 }
  for (const { estimate, bound } of parts) {
    total.estimate += estimate
    total.bound += bound
  }
  return total
}
