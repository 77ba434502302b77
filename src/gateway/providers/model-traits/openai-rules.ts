import { nearestOf } from './efforts.ts'
import { rulesOf } from './rules.ts'
import type { HostName, TraitRule } from './traits.ts'

const hosts: readonly HostName[] = ['openai', 'azure']
const reference = 'https://platform.openai.com/docs/guides/reasoning'
const penalties = ['presence_penalty', 'frequency_penalty']

/** OpenAI's models, at OpenAI and at Azure. */
export const openAiRules: readonly TraitRule[] = [
  ...rulesOf(hosts, reference, [
    [
      /^(o[134](?![a-z\d])|gpt-[5-9])/,
      {
        reasoning: true,
        acceptsTemperature: false,
        refuses: penalties,
        efforts: nearestOf('low', 'medium', 'high'),
        systemRole: 'developer',
        capField: 'max_completion_tokens',
      },
    ],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/models', [
    // Models that chat completions do not serve.
    [
      /^(o[13]-pro|o3-deep-research|o4-mini-deep-research|gpt-5(\.\d+)?-pro|gpt-5(\.\d+)?-codex|codex-mini|computer-use)/,
      { api: 'responses', severalChoices: false },
    ],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/guides/tools', [
    [
      /^(gpt-4\.1|gpt-4o(?!.*(audio|realtime|search|transcribe|tts))|gpt-[5-9]|o3(?!-mini)|o4)/,
      { hostedTools: ['web_search', 'code_execution', 'mcp'] },
    ],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/api-reference/chat/create#chat_create-stop', [
    // o1 and o3-mini accept stop sequences.
    [/^(o3(?!-mini|[a-z\d])|o4(?![a-z\d])|gpt-[5-9])/, { refuses: [...penalties, 'stop'] }],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/models/gpt-5', [
    [/^gpt-5(?![.\d])/, { efforts: nearestOf('minimal', 'low', 'medium', 'high') }],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/models/gpt-5-codex', [
    [/^gpt-5(\.1)?-codex/, { efforts: nearestOf('low', 'medium', 'high') }],
  ]),
  ...rulesOf(hosts, 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort', [
    // `none` replaces `minimal`; tools are allowed with every effort.
    [/^gpt-5\.1(?!-codex)/, { efforts: { ...nearestOf('none', 'low', 'medium', 'high'), minimal: 'none' } }],
  ]),
  ...rulesOf(hosts, 'https://github.com/BerriAI/litellm/pull/34569', [
    [
      /^gpt-(5\.([2-9]|\d\d)|[6-9])(?!.*-(chat|pro))/,
      {
        efforts: { ...nearestOf('none', 'low', 'medium', 'high', 'xhigh'), minimal: 'none' },
        // Some reason by default, and then refuse tools even if no effort is sent.
        effortWithTools: 'none',
      },
    ],
  ]),
  ...rulesOf(hosts, 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort', [
    [/^gpt-5(\.\d+)?-pro/, { efforts: nearestOf('high') }],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/models/gpt-5.1-chat-latest', [
    // The chat variants since 5.1 choose how long they reason.
    [/^gpt-5\.\d+-chat/, { efforts: nearestOf('medium') }],
  ]),
  ...rulesOf(hosts, 'https://github.com/vercel/ai/pull/5647', [
    [/^gpt-4o(-mini)?-search-preview/, { refuses: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'] }],
  ]),
  ...rulesOf(hosts, 'https://platform.openai.com/docs/models/gpt-5-chat-latest', [
    [
      /^gpt-5-chat/,
      {
        reasoning: false,
        acceptsTemperature: true,
        refuses: [],
        efforts: {},
        systemRole: 'system',
        capField: 'max_completion_tokens',
      },
    ],
  ]),
]
