import { nearestOf } from './efforts.ts'
import { rulesOf } from './rules.ts'
import type { HostName, TraitRule } from './traits.ts'

const hosts: readonly HostName[] = ['gemini', 'vertex']
const thinking = 'https://ai.google.dev/gemini-api/docs/thinking'
const compatibility = 'https://ai.google.dev/gemini-api/docs/openai'

/** Budgets that Google's OpenAI-compatible endpoint uses for the values. */
const budgets = { minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 }

/** Gemini, on the Gemini API and Vertex AI. */
export const geminiRules: readonly TraitRule[] = [
  ...rulesOf(hosts, compatibility, [
    [/^gemini/, { turns: 'alternating', efforts: {} }],
    [/^gemini-2\.5/, { reasoning: true, thinkingBudgets: budgets }],
  ]),
  ...rulesOf(hosts, 'https://ai.google.dev/gemini-api/docs/google-search', [
    [/^gemini/, { toolsWithHosted: false }],
    [/^gemini-[12]/, { searchUses: 'answer' }],
    [/^gemini-2\.0-flash(?!.*(lite|image|live))/, { hostedTools: ['web_search', 'code_execution'] }],
  ]),
  ...rulesOf(hosts, 'https://ai.google.dev/gemini-api/docs/url-context', [
    [
      /^gemini-(2\.5|[3-9]|\d\d)(?!.*(image|tts|audio|live|embedding|computer))/,
      { hostedTools: ['web_search', 'web_fetch', 'code_execution'] },
    ],
  ]),
  ...rulesOf(['gemini'], 'https://github.com/vercel/ai/pull/6928', [
    // "Developer instruction is not enabled for models/gemma-3-27b-it"
    [/^gemma/, { systemRole: 'user', turns: 'alternating' }],
  ]),
  ...rulesOf(['gemini'], 'https://github.com/google-gemini/cookbook/issues/1290', [
    // Vertex is not included: the reports are about the Gemini API.
    [/^gemini-(2\.5|[3-9]|\d\d)/, { refuses: ['presence_penalty', 'frequency_penalty'] }],
  ]),
  ...rulesOf(['vertex'], 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings', [
    [/^gemini-embedding/, { embeddingBatch: 1 }],
    [/^gemini-embedding(?!-001)/, { embeddingForm: 'content' }],
  ]),
  ...rulesOf(hosts, thinking, [
    // Thinking of 2.5 Pro cannot be disabled.
    [/^gemini-2\.5-flash/, { thinkingBudgets: { none: 0, ...budgets } }],
  ]),
  ...rulesOf(hosts, 'https://ai.google.dev/gemini-api/docs/thought-signatures', [
    [
      /^gemini-([3-9]|\d\d)/,
      {
        reasoning: true,
        signedToolCalls: true,
        efforts: { ...nearestOf('low', 'medium', 'high'), none: 'low' },
      },
    ],
  ]),
  ...rulesOf(hosts, thinking, [
    [
      /^gemini-([3-9]|\d\d)[\d.]*-flash/,
      { efforts: { ...nearestOf('minimal', 'low', 'medium', 'high'), none: 'minimal' } },
    ],
    [/^gemini-3-pro/, { efforts: { ...nearestOf('low', 'high'), none: 'low' } }],
  ]),
]
