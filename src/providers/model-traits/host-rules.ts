import type { TraitRule } from './traits.ts'

const checked = '2026-11-21'

/** Rules for every model of a host. How the host's dialect differs from its family is in ../openai/flavours.ts. */
export const hostRules: readonly TraitRule[] = [
  {
    hosts: ['openai', 'azure'],
    traits: { userCharacters: 64 },
    source: 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-safety_identifier',
    checked,
  },
  {
    hosts: ['openai'],
    traits: { serviceTiers: { default: 'default', flex: 'flex', priority: 'priority' } },
    source: 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-service_tier',
    checked,
  },
  {
    hosts: ['groq'],
    traits: { serviceTiers: { auto: 'auto', default: 'on_demand', flex: 'flex', priority: 'performance' } },
    source: 'https://console.groq.com/docs/service-tiers',
    checked,
  },
  {
    hosts: ['anthropic'],
    traits: { serviceTiers: { default: 'standard_only' } },
    source: 'https://platform.claude.com/docs/en/api/service-tiers',
    checked,
  },
  {
    hosts: ['openrouter'],
    traits: { reasoningReplay: 'reasoning_details', userCharacters: 128 },
    source: 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks',
    checked,
  },
  {
    hosts: ['perplexity'],
    traits: { tools: false, turns: 'alternating', blankTurns: false },
    source: 'https://github.com/pipecat-ai/pipecat/pull/4009',
    checked,
  },
  {
    hosts: ['mistral'],
    traits: { blankTurns: false, toolCallIds: { characters: 'alphanumeric', least: 9, most: 9 } },
    source: 'https://docs.mistral.ai/api/#tag/chat',
    checked,
  },
  {
    hosts: ['mistral'],
    traits: { textWithToolCalls: false },
    source: 'https://github.com/github/copilot-cli/issues/4884',
    checked,
  },
  {
    hosts: ['openai', 'azure'],
    traits: { toolCallIds: { characters: 'word', least: 1, most: 40 } },
    source: 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-messages',
    checked,
  },
  {
    hosts: ['anthropic', 'bedrock'],
    traits: { toolCallIds: { characters: 'word', least: 1, most: 64 } },
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html',
    checked,
  },
  {
    hosts: ['moonshotai', 'xai'],
    traits: { blankTurns: false },
    source: 'https://platform.moonshot.ai/docs/api/chat',
    checked,
  },
  {
    hosts: ['bedrock'],
    traits: { turns: 'alternating' },
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
    checked,
  },
  {
    hosts: ['gemini', 'vertex'],
    traits: { turns: 'alternating' },
    source: 'https://ai.google.dev/api/caching#Content',
    checked,
  },
]
