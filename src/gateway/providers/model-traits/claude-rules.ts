import { nearestOf } from './efforts.ts'
import { everyModel, rulesOf } from './rules.ts'
import type { HostName, TraitRule } from './traits.ts'

const hosts: readonly HostName[] = ['anthropic', 'bedrock', 'vertex']
const models = 'https://platform.claude.com/docs/en/about-claude/models/overview'
const effort = 'https://platform.claude.com/docs/en/build-with-claude/effort'
const caching = 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching'

/** Claude, at Anthropic and in the clouds. */
export const claudeRules: readonly TraitRule[] = [
  ...rulesOf(['anthropic'], 'https://platform.claude.com/docs/en/api/messages', [
    // The lowest of all models there: an unknown model must not be asked for more than it supports.
    [everyModel, { temperatureOrTopP: true, maxOutputTokens: 4_096, turns: 'alternating', userCharacters: 256 }],
  ]),
  ...rulesOf(hosts, models, [
    [
      /^claude/,
      {
        temperatureOrTopP: true,
        refusesBlankStop: true,
        turns: 'alternating',
        // The lowest of all models since the fourth generation.
        maxOutputTokens: 32_000,
        contextTokens: 200_000,
        cachePrefixTokens: 4_096,
        efforts: {},
        effortField: 'output_config',
      },
    ],
    [/^claude-(2|instant)/, { maxOutputTokens: 4_096 }],
    [/^claude-3-(opus|sonnet|haiku)/, { maxOutputTokens: 4_096 }],
    [/^claude-3-5/, { maxOutputTokens: 8_192 }],
    [/^claude-(3-7|sonnet-4|haiku-4|opus-4-[5-9])/, { maxOutputTokens: 64_000 }],
  ]),
  ...rulesOf(hosts, caching, [
    [
      /^claude-(3-[57]-sonnet|sonnet-[4-9]|opus-4(-[01]|-8|-2\d{7}|$)|opus-[5-9]|fable|mythos)/,
      { cachePrefixTokens: 1_024 },
    ],
    [/^claude-(3-haiku|3-5-haiku|opus-4-7)/, { cachePrefixTokens: 2_048 }],
  ]),
  ...rulesOf(hosts, effort, [
    [
      /^claude-(opus-4-[5-9]|sonnet-4-[6-9]|[a-z]+-([5-9]|[1-9]\d)(?!\d))/,
      { efforts: nearestOf('low', 'medium', 'high') },
    ],
    [
      /^claude-(opus-4-[7-9]|[a-z]+-([5-9]|[1-9]\d)(?!\d))/,
      { efforts: nearestOf('low', 'medium', 'high', 'xhigh', 'max'), acceptsTemperature: false },
    ],
  ]),
]
