import { nearestOf } from './efforts.ts'
import type { HostName, TraitRule } from './traits.ts'

const hosts: readonly HostName[] = ['openai', 'azure']
const checked = '2026-11-21'
const reference = 'https://platform.openai.com/docs/guides/reasoning'
const penalties = ['presence_penalty', 'frequency_penalty']

/** OpenAI's models, at OpenAI and at Azure. */
export const openAiRules: readonly TraitRule[] = [
  {
    hosts,
    models: /^(o[134](?![a-z\d])|gpt-[5-9])/,
    traits: {
      reasoning: true,
      acceptsTemperature: false,
      refuses: penalties,
      efforts: nearestOf('low', 'medium', 'high'),
      systemRole: 'developer',
      capField: 'max_completion_tokens',
    },
    source: reference,
    checked,
  },
  {
    hosts,
    // o1 and o3-mini accept stop sequences.
    models: /^(o3(?!-mini|[a-z\d])|o4(?![a-z\d])|gpt-[5-9])/,
    traits: { refuses: [...penalties, 'stop'] },
    source: 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-stop',
    checked,
  },
  {
    hosts,
    models: /^gpt-5(?![.\d])/,
    traits: { efforts: nearestOf('minimal', 'low', 'medium', 'high') },
    source: 'https://platform.openai.com/docs/models/gpt-5',
    checked,
  },
  {
    hosts,
    models: /^gpt-5(\.1)?-codex/,
    traits: { efforts: nearestOf('low', 'medium', 'high') },
    source: 'https://platform.openai.com/docs/models/gpt-5-codex',
    checked,
  },
  {
    hosts,
    models: /^gpt-5\.1(?!-codex)/,
    // `none` replaces `minimal`; tools are allowed with every effort.
    traits: { efforts: { ...nearestOf('none', 'low', 'medium', 'high'), minimal: 'none' } },
    source: 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort',
    checked,
  },
  {
    hosts,
    models: /^gpt-(5\.([2-9]|\d\d)|[6-9])(?!.*-(chat|pro))/,
    traits: {
      efforts: { ...nearestOf('none', 'low', 'medium', 'high', 'xhigh'), minimal: 'none' },
      // Some reason by default, and then refuse tools even if no effort is sent.
      effortWithTools: 'none',
    },
    source: 'https://github.com/BerriAI/litellm/pull/34569',
    checked,
  },
  {
    hosts,
    models: /^gpt-5(\.\d+)?-pro/,
    traits: { efforts: nearestOf('high') },
    source: 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort',
    checked,
  },
  {
    hosts,
    // The chat variants since 5.1 choose how long they reason.
    models: /^gpt-5\.\d+-chat/,
    traits: { efforts: nearestOf('medium') },
    source: 'https://platform.openai.com/docs/models/gpt-5.1-chat-latest',
    checked,
  },
  {
    hosts,
    models: /^gpt-4o(-mini)?-search-preview/,
    traits: { refuses: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'] },
    source: 'https://github.com/vercel/ai/pull/5647',
    checked,
  },
  {
    hosts,
    models: /^gpt-5-chat/,
    traits: {
      reasoning: false,
      acceptsTemperature: true,
      refuses: [],
      efforts: {},
      systemRole: 'system',
      capField: 'max_completion_tokens',
    },
    source: 'https://platform.openai.com/docs/models/gpt-5-chat-latest',
    checked,
  },
]
