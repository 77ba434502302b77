import { nearestOf } from './efforts.ts'
import type { TraitRule } from './traits.ts'

const checked = '2026-11-21'
const penalties = ['presence_penalty', 'frequency_penalty']
const everyEffort = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Every effort above `none` has the same meaning. */
const thinking = (word: string) => Object.fromEntries(everyEffort.map((asked) => [asked, word]))

/** Models that are neither OpenAI's, nor Claude, nor Gemini: by vendor. */
export const modelRules: readonly TraitRule[] = [
  {
    hosts: '*',
    models: /^gpt-oss/,
    traits: { reasoning: true, efforts: nearestOf('low', 'medium', 'high') },
    source: 'https://huggingface.co/openai/gpt-oss-120b',
    checked,
  },
  {
    hosts: ['groq'],
    models: /^qwen-?3/,
    traits: { reasoning: true, efforts: { none: 'none', ...thinking('default') } },
    source: 'https://console.groq.com/docs/reasoning',
    checked,
  },
  {
    hosts: ['xai', 'azure'],
    // Also those that do not reason (https://github.com/lobehub/lobehub/issues/13332).
    models: /^grok-(3-mini|[4-9]|build|code)/,
    traits: { refuses: penalties },
    source: 'https://docs.x.ai/docs/guides/reasoning',
    checked,
  },
  {
    hosts: ['xai', 'azure'],
    models: /^grok-(3-mini|[4-9]|build|code)(?!.*non-reasoning)/,
    // Most of them choose their own effort and refuse the field.
    traits: { reasoning: true, refuses: [...penalties, 'stop'], efforts: {} },
    source: 'https://docs.x.ai/docs/guides/reasoning',
    checked,
  },
  {
    hosts: ['xai', 'azure'],
    models: /^grok-3-mini/,
    traits: { efforts: nearestOf('low', 'high') },
    source: 'https://docs.x.ai/docs/guides/reasoning',
    checked,
  },
  {
    hosts: ['xai', 'azure'],
    models: /^grok-4\.3/,
    traits: { efforts: nearestOf('none', 'low', 'medium', 'high') },
    source: 'https://docs.x.ai/developers/model-capabilities/text/reasoning#effort-levels',
    checked,
  },
  {
    hosts: ['xai', 'azure'],
    models: /^grok-(4\.([5-9](?!\d)|[1-9]\d(?!\d))(?<!4\.20)|[5-9])/,
    traits: { efforts: nearestOf('low', 'medium', 'high') },
    source: 'https://github.com/anomalyco/opencode/issues/39448',
    checked,
  },
  {
    hosts: ['mistral'],
    // Magistral always reasons and refuses the field.
    models: /^magistral/,
    traits: { reasoning: true, efforts: {} },
    source: 'https://docs.mistral.ai/capabilities/reasoning/',
    checked,
  },
  {
    hosts: ['mistral'],
    models: /^mistral-(small-(latest|2[6-9]\d\d)|medium-(2[6-9]\d\d|3[-.]5))/,
    traits: { reasoning: true, efforts: { none: 'none', ...thinking('high') } },
    source: 'https://github.com/vercel/ai/pull/13688',
    checked,
  },
  {
    hosts: ['moonshotai'],
    models: /^kimi/,
    traits: { efforts: {} },
    source: 'https://platform.moonshot.ai/docs/api/chat',
    checked,
  },
  {
    hosts: ['moonshotai'],
    models: /^kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding|thinking)|^k[3-9]/,
    traits: { reasoning: true, fixedTemperature: 1, fixedTopP: 0.95, refuses: penalties },
    source: 'https://platform.kimi.ai/docs/guide/kimi-k2-5-quickstart',
    checked,
  },
  {
    hosts: ['moonshotai'],
    models: /^(kimi-)?k[3-9]/,
    traits: { efforts: nearestOf('low', 'high', 'max'), capField: 'max_completion_tokens' },
    source: 'https://platform.kimi.ai/docs/guide/kimi-k3-quickstart',
    checked,
  },
  {
    hosts: '*',
    models: /^kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding|thinking)/,
    traits: { reasoning: true },
    source: 'https://platform.kimi.ai/docs/guide/kimi-k2-5-quickstart',
    checked,
  },
  {
    hosts: ['moonshotai', 'alibaba', 'generic', 'vllm'],
    models: /^kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding|thinking)/,
    traits: { reasoningReplay: 'reasoning_content' },
    source: 'https://github.com/anomalyco/opencode/issues/10811',
    checked,
  },
  {
    hosts: ['deepseek', 'alibaba', 'generic', 'vllm'],
    models: /^deepseek/,
    traits: { reasoningReplay: 'reasoning_content' },
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
    checked,
  },
  {
    hosts: ['deepseek'],
    models: /^deepseek/,
    traits: {
      efforts: { minimal: 'low', low: 'low', medium: 'high', high: 'high', xhigh: 'high', max: 'max' },
    },
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
    checked,
  },
  {
    hosts: ['perplexity'],
    models: /^sonar-(reasoning|deep)/,
    traits: { reasoning: true, efforts: nearestOf('minimal', 'low', 'medium', 'high') },
    source: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
    checked,
  },
  {
    hosts: ['cerebras'],
    models: /^(zai-)?glm-4\.[67]/,
    traits: { reasoning: true, efforts: { none: 'none' } },
    source: 'https://inference-docs.cerebras.ai/capabilities/reasoning',
    checked,
  },
  {
    hosts: ['cerebras', 'alibaba'],
    models: /^qwen/,
    traits: { efforts: {} },
    source: 'https://inference-docs.cerebras.ai/capabilities/reasoning',
    checked,
  },
  {
    hosts: ['bedrock'],
    // Also Mistral's, Writer's and DeepSeek's: a whole answer only takes longer, a refused stream gives none.
    models: /^(llama|mistral|mixtral|ministral|pixtral|magistral|palmyra|v3)/,
    traits: { streamedTools: false, efforts: {} },
    source:
      'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html',
    checked,
  },
  {
    hosts: ['bedrock'],
    models: /^(titan|llama3-(8|70)b|mistral-7b|mixtral|jamba-instruct|r1|deepseek-r1)/,
    traits: { tools: false },
    source:
      'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html',
    checked,
  },
  {
    hosts: ['bedrock'],
    models: /^nova/,
    traits: { efforts: {} },
    source:
      'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html',
    checked,
  },
  {
    hosts: ['bedrock'],
    models: /^(embed-|cohere)/,
    traits: { embeddingForm: 'texts', embeddingBatch: 96 },
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html',
    checked,
  },
  {
    hosts: ['bedrock'],
    models: /^titan-embed-(text-v1|g1)/,
    traits: { embeddingForm: 'text_only' },
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html',
    checked,
  },
]
