import type { ProviderFormat } from '../../src/contract/provider-formats.ts'
import { anthropicReply, type FormatReply, geminiReply, openaiReply } from './format-replies.ts'
import { bedrockReply, cohereReply, ollamaReply } from './more-format-replies.ts'

interface TestedFormat {
  /** `api` of its records in the index; absent: their `api` is that of another format. */
  api?: string
  /** Answers as its hosts do. */
  reply: FormatReply
  wireId: string
  settings?: object
}

/** What tests of all formats need of each. */
export const testedFormats: Readonly<Record<ProviderFormat, TestedFormat>> = {
  openai: { api: 'openai-chat', reply: openaiReply, wireId: 'gpt-4.1', settings: { flavour: 'openai' } },
  // The operator chooses the names of its deployments.
  azure: { api: 'azure-chat', reply: openaiReply, wireId: 'house-chat' },
  anthropic: { api: 'anthropic-messages', reply: anthropicReply, wireId: 'claude-sonnet-4-5' },
  gemini: { api: 'google-generatecontent', reply: geminiReply, wireId: 'gemini-2.5-pro' },
  vertex: { reply: geminiReply, wireId: 'gemini-2.5-pro', settings: { project: 'p', region: 'us-central1' } },
  bedrock: {
    api: 'bedrock-converse',
    reply: bedrockReply,
    wireId: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    settings: { region: 'eu-central-1' },
  },
  cohere: { api: 'cohere-chat', reply: cohereReply, wireId: 'command-a-03-2025' },
  ollama: { api: 'ollama-chat', reply: ollamaReply, wireId: 'qwen3' },
}
