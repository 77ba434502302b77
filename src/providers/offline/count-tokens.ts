import type { ProviderMessage } from '../port.ts'

/** Tokens of role and separators around each message, and of the answer's beginning, as OpenAI's counting guide gives them. */
const tokensPerMessage = 3
const tokensPerAnswer = 3

export interface TokenCounter {
  messages(messages: readonly ProviderMessage[]): number
  text(text: string): number
}

/** Counts with the o200k encoding. Its tables (2 MB) are read at the first use, about 0.3 s, not when the service starts. */
export async function loadTokenCounter(): Promise<TokenCounter> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // What looks like a special token in a prompt is plain text.
  const text = (value: string) => countTokens(value, { disallowedSpecial: new Set() })
  return {
    text,
    messages: (messages) =>
      messages.reduce((sum, message) => sum + tokensPerMessage + text(message.content), tokensPerAnswer),
  }
}
