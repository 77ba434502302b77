import { nearestOf } from './efforts.ts'
import type { HostName, TraitRule } from './traits.ts'

const hosts: readonly HostName[] = ['gemini', 'vertex']
const checked = '2026-11-21'
const thinking = 'https://ai.google.dev/gemini-api/docs/thinking'
const compatibility = 'https://ai.google.dev/gemini-api/docs/openai'

/** Budgets that Google's OpenAI-compatible endpoint uses for the values. */
const budgets = { minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 }

/** Gemini, on the Gemini API and Vertex AI. */
export const geminiRules: readonly TraitRule[] = [
  { hosts, models: /^gemini/, traits: { turns: 'alternating', efforts: {} }, source: compatibility, checked },
  {
    hosts,
    models: /^gemini-2\.5/,
    traits: { reasoning: true, thinkingBudgets: budgets },
    source: compatibility,
    checked,
  },
  {
    // "Developer instruction is not enabled for models/gemma-3-27b-it"
    hosts: ['gemini'],
    models: /^gemma/,
    traits: { systemRole: 'user', turns: 'alternating' },
    source: 'https://github.com/vercel/ai/pull/6928',
    checked,
  },
  {
    // Vertex is not included: the reports are about the Gemini API.
    hosts: ['gemini'],
    models: /^gemini-(2\.5|[3-9]|\d\d)/,
    traits: { refuses: ['presence_penalty', 'frequency_penalty'] },
    source: 'https://github.com/google-gemini/cookbook/issues/1290',
    checked,
  },
  {
    hosts: ['vertex'],
    models: /^gemini-embedding/,
    traits: { embeddingBatch: 1 },
    source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings',
    checked,
  },
  {
    hosts: ['vertex'],
    models: /^gemini-embedding(?!-001)/,
    traits: { embeddingForm: 'content' },
    source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings',
    checked,
  },
  {
    hosts,
    // Thinking of 2.5 Pro cannot be disabled.
    models: /^gemini-2\.5-flash/,
    traits: { thinkingBudgets: { none: 0, ...budgets } },
    source: thinking,
    checked,
  },
  {
    hosts,
    models: /^gemini-([3-9]|\d\d)/,
    traits: {
      reasoning: true,
      signedToolCalls: true,
      efforts: { ...nearestOf('low', 'medium', 'high'), none: 'low' },
    },
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    checked,
  },
  {
    hosts,
    models: /^gemini-([3-9]|\d\d)[\d.]*-flash/,
    traits: { efforts: { ...nearestOf('minimal', 'low', 'medium', 'high'), none: 'minimal' } },
    source: thinking,
    checked,
  },
  {
    hosts,
    models: /^gemini-3-pro/,
    traits: { efforts: { ...nearestOf('low', 'high'), none: 'low' } },
    source: thinking,
    checked,
  },
]
