import { everyModel, rulesOf } from './rules.ts'
import type { TraitRule } from './traits.ts'

/** Rules for every model of a host. How the host's dialect differs from its family is in ../openai/flavours.ts. */
export const hostRules: readonly TraitRule[] = [
  ...rulesOf(
    ['openai', 'azure'],
    'https://platform.openai.com/docs/api-reference/chat/create#chat_create-safety_identifier',
    [[everyModel, { userCharacters: 64 }]],
  ),
  ...rulesOf(['openai'], 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-service_tier', [
    [everyModel, { serviceTiers: { default: 'default', flex: 'flex', priority: 'priority' } }],
  ]),
  ...rulesOf(['groq'], 'https://console.groq.com/docs/service-tiers', [
    [everyModel, { serviceTiers: { auto: 'auto', default: 'on_demand', flex: 'flex', priority: 'performance' } }],
  ]),
  ...rulesOf(['anthropic'], 'https://platform.claude.com/docs/en/api/service-tiers', [
    [everyModel, { serviceTiers: { default: 'standard_only' } }],
  ]),
  ...rulesOf(['openrouter'], 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks', [
    [everyModel, { reasoningReplay: 'reasoning_details', userCharacters: 128 }],
  ]),
  ...rulesOf(['perplexity'], 'https://github.com/pipecat-ai/pipecat/pull/4009', [
    [everyModel, { tools: false, turns: 'alternating', blankTurns: false }],
  ]),
  ...rulesOf(['mistral'], 'https://docs.mistral.ai/api/#tag/chat', [
    [everyModel, { blankTurns: false, toolCallIds: { characters: 'alphanumeric', least: 9, most: 9 } }],
  ]),
  ...rulesOf(['mistral'], 'https://github.com/github/copilot-cli/issues/4884', [
    [everyModel, { textWithToolCalls: false }],
  ]),
  ...rulesOf(['openai', 'azure'], 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-messages', [
    [everyModel, { toolCallIds: { characters: 'word', least: 1, most: 40 } }],
  ]),
  ...rulesOf(
    ['anthropic', 'bedrock'],
    'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html',
    [[everyModel, { toolCallIds: { characters: 'word', least: 1, most: 64 } }]],
  ),
  ...rulesOf(['moonshotai', 'xai'], 'https://platform.moonshot.ai/docs/api/chat', [
    [everyModel, { blankTurns: false }],
  ]),
  ...rulesOf(['bedrock'], 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html', [
    [everyModel, { turns: 'alternating' }],
  ]),
  ...rulesOf(['gemini', 'vertex'], 'https://ai.google.dev/api/caching#Content', [
    [everyModel, { turns: 'alternating' }],
  ]),
]
