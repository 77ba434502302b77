import { setImmediate as nextTurn } from 'node:timers/promises'
import { JsonText, textOf } from '../../platform/bodies/index.ts'
import { textOfContent } from '../conversation/index.ts'
import type { ResolvedModel } from '../models/index.ts'
import { type ProviderMessage, type ProviderRequest, promptReads } from '../providers/index.ts'
import {
  estimateJson,
  estimateLongText,
  estimateTokens,
  type TokenCounting,
  type TokenEstimate,
} from '../tokens/index.ts'

/** Role markers and separators; the compatible API's own guide says 3 to 4, providers' templates go up to about 10. */
const perMessage: TokenEstimate = { estimate: 4, bound: 12 }
const perPrompt: TokenEstimate = { estimate: 3, bound: 32 }
/** UTF-16 units that are read in one turn of the event loop, about 10 ms. The largest prompt has 33 million. */
const unitsPerTurn = 400_000

/** Estimate and bound of a prompt without a tokenizer run. Decodes long texts. Yields to other requests between parts of a large prompt. */
export async function estimatePrompt({
  messages,
  tools = [],
  responseFormat,
}: Pick<ProviderRequest, 'messages' | 'tools' | 'responseFormat'>): Promise<TokenEstimate> {
  const total = { ...perPrompt }
  if (tools.length > 0) add(total, estimateTokens(JSON.stringify(tools)))
  if (responseFormat?.type === 'json_schema') add(total, estimateTokens(JSON.stringify(responseFormat)))
  let units = 0
  for (const message of messages) {
    const content = textOf(textOfContent(message.content))
    if (units + content.length > unitsPerTurn) {
      units = 0
      await nextTurn()
    }
    units += content.length
    addMessage(total, message, estimateTokens(content))
  }
  return total
}

/** Each of several texts. Yields to other requests between parts. */
export async function estimateEach(texts: readonly string[]): Promise<TokenEstimate[]> {
  const estimates: TokenEstimate[] = []
  let units = 0
  for (const text of texts) {
    if (units + text.length > unitsPerTurn) {
      units = 0
      await nextTurn()
    }
    units += text.length
    estimates.push(estimateTokens(text))
  }
  return estimates
}

/** The same without turns between the parts: for small prompts, for those with long texts, and off the main thread. */
export function estimatePromptAtOnce(messages: readonly ProviderMessage[]): TokenEstimate {
  const total = { ...perPrompt }
  for (const message of messages) {
    const content = textOfContent(message.content)
    addMessage(total, message, typeof content === 'string' ? estimateTokens(content) : estimateLongText(content))
  }
  return total
}

/** The prompt of a whole request: its messages, tools and the schema of its answer. */
export function estimateRequestAtOnce({ messages, tools = [], responseFormat }: ProviderRequest): TokenEstimate {
  const total = estimatePromptAtOnce(messages)
  if (tools.length > 0) add(total, estimateJson(JSON.stringify(tools)))
  if (responseFormat?.type === 'json_schema') add(total, estimateJson(JSON.stringify(responseFormat)))
  return total
}

/** Each round of hosted tools reads the prompt again, with the results so far: at most the whole context. */
export function withRounds(
  size: TokenEstimate,
  { hostedLimits }: Pick<ProviderRequest, 'hostedLimits'>,
  { model, deployments }: ResolvedModel,
): TokenEstimate {
  if (!hostedLimits) return size
  const reads = Math.max(...deployments.map(({ wire }) => promptReads(hostedLimits, wire)))
  return { estimate: size.estimate, bound: Math.max(size.bound, reads * model.contextTokens) }
}

function addMessage(total: TokenEstimate, { toolCalls, replay }: ProviderMessage, content: TokenEstimate): void {
  add(total, perMessage)
  add(total, content)
  for (const call of toolCalls ?? []) total.bound += Buffer.byteLength(call.argumentsJson) + call.name.length
  if (replay) total.bound += Buffer.byteLength(JSON.stringify(replay.blocks))
}

function add(total: TokenEstimate, { estimate, bound }: TokenEstimate): void {
  total.estimate += estimate
  total.bound += bound
}

/** Bytes of long texts that are decoded to be counted. Longer prompts cannot be counted in the time for it, and decoding would block others. */
const maximumCountedBytes = 32 * 1024 * 1024

/** Our own count of a prompt's tokens, without media; null: it is too long to be counted. */
export async function countPrompt(
  { messages, tools = [] }: Pick<ProviderRequest, 'messages' | 'tools'>,
  tokens: TokenCounting,
  owner: string,
): Promise<number | null> {
  const contents = messages.map(({ content }) => textOfContent(content))
  const longBytes = contents.reduce((sum, text) => sum + (text instanceof JsonText ? text.bytes : 0), 0)
  if (longBytes > maximumCountedBytes) return null
  // A separator between two messages.
  const separators = Math.max(0, messages.length - 1)
  const texts = contents.map(textOf)
  if (tools.length > 0) texts.push(JSON.stringify(tools))
  return separators + (await tokens.count(texts, owner))
}
