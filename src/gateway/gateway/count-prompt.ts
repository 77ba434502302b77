import { JsonText, textOf } from '../../platform/bodies/index.ts'
import { textOfContent } from '../conversation/index.ts'
import type { ProviderRequest } from '../providers/index.ts'
import type { TokenCounting } from '../tokens/index.ts'

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
