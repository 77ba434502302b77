import { nearestOf } from './efforts.ts'
import { rulesOf } from './rules.ts'
import type { TraitRule } from './traits.ts'

const penalties = ['presence_penalty', 'frequency_penalty']
const everyEffort = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Every effort above `none` has the same meaning. */
const thinking = (word: string) => Object.fromEntries(everyEffort.map((asked) => [asked, word]))

/** Models that are neither OpenAI's, nor Claude, nor Gemini: by vendor. */
export const modelRules: readonly TraitRule[] = [
  ...rulesOf('*', 'https://huggingface.co/openai/gpt-oss-120b', [
    [/^gpt-oss/, { reasoning: true, efforts: nearestOf('low', 'medium', 'high') }],
  ]),
  ...rulesOf(['groq'], 'https://console.groq.com/docs/reasoning', [
    [/^qwen-?3/, { reasoning: true, efforts: { none: 'none', ...thinking('default') } }],
  ]),
  ...rulesOf(['xai', 'azure'], 'https://docs.x.ai/docs/guides/reasoning', [
    // Also those that do not reason (https://github.com/lobehub/lobehub/issues/13332).
    [/^grok-(3-mini|[4-9]|build|code)/, { refuses: penalties }],
    // Most of them choose their own effort and refuse the field.
    [
      /^grok-(3-mini|[4-9]|build|code)(?!.*non-reasoning)/,
      { reasoning: true, refuses: [...penalties, 'stop'], efforts: {} },
    ],
    [/^grok-3-mini/, { efforts: nearestOf('low', 'high') }],
  ]),
  ...rulesOf(['xai', 'azure'], 'https://docs.x.ai/developers/model-capabilities/text/reasoning#effort-levels', [
    [/^grok-4\.3/, { efforts: nearestOf('none', 'low', 'medium', 'high') }],
  ]),
  ...rulesOf(['xai', 'azure'], 'https://github.com/anomalyco/opencode/issues/39448', [
    [/^grok-(4\.([5-9](?!\d)|[1-9]\d(?!\d))(?<!4\.20)|[5-9])/, { efforts: nearestOf('low', 'medium', 'high') }],
  ]),
  ...rulesOf(['mistral'], 'https://docs.mistral.ai/capabilities/reasoning/', [
    // Magistral always reasons and refuses the field.
    [/^magistral/, { reasoning: true, efforts: {} }],
  ]),
  ...rulesOf(['mistral'], 'https://github.com/vercel/ai/pull/13688', [
    [
      /^mistral-(small-(latest|2[6-9]\d\d)|medium-(2[6-9]\d\d|3[-.]5))/,
      { reasoning: true, efforts: { none: 'none', ...thinking('high') } },
    ],
  ]),
  ...rulesOf(['moonshotai'], 'https://platform.moonshot.ai/docs/api/chat', [[/^kimi/, { efforts: {} }]]),
  ...rulesOf(['moonshotai'], 'https://platform.kimi.ai/docs/guide/kimi-k2-5-quickstart', [
    [
      /^kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding|thinking)|^k[3-9]/,
      { reasoning: true, fixedTemperature: 1, fixedTopP: 0.95, refuses: penalties },
    ],
  ]),
  ...rulesOf(['moonshotai'], 'https://platform.kimi.ai/docs/guide/kimi-k3-quickstart', [
    [/^(kimi-)?k[3-9]/, { efforts: nearestOf('low', 'high', 'max'), capField: 'max_completion_tokens' }],
  ]),
  ...rulesOf('*', 'https://platform.kimi.ai/docs/guide/kimi-k2-5-quickstart', [
    [/^kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding|thinking)/, { reasoning: true }],
  ]),
  ...rulesOf(['moonshotai', 'alibaba', 'generic', 'vllm'], 'https://github.com/anomalyco/opencode/issues/10811', [
    [/^kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding|thinking)/, { reasoningReplay: 'reasoning_content' }],
  ]),
  ...rulesOf(['deepseek', 'alibaba', 'generic', 'vllm'], 'https://api-docs.deepseek.com/guides/thinking_mode', [
    [/^deepseek/, { reasoningReplay: 'reasoning_content' }],
  ]),
  ...rulesOf(['deepseek'], 'https://api-docs.deepseek.com/guides/thinking_mode', [
    [/^deepseek/, { efforts: { minimal: 'low', low: 'low', medium: 'high', high: 'high', xhigh: 'high', max: 'max' } }],
  ]),
  ...rulesOf(['perplexity'], 'https://docs.perplexity.ai/api-reference/chat-completions-post', [
    [/^sonar-(reasoning|deep)/, { reasoning: true, efforts: nearestOf('minimal', 'low', 'medium', 'high') }],
  ]),
  ...rulesOf(['cerebras'], 'https://inference-docs.cerebras.ai/capabilities/reasoning', [
    [/^(zai-)?glm-4\.[67]/, { reasoning: true, efforts: { none: 'none' } }],
  ]),
  ...rulesOf(['cerebras', 'alibaba'], 'https://inference-docs.cerebras.ai/capabilities/reasoning', [
    [/^qwen/, { efforts: {} }],
  ]),
  ...rulesOf(
    ['bedrock'],
    'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html',
    [
      // Also Mistral's, Writer's and DeepSeek's: a whole answer only takes longer, a refused stream gives none.
      [/^(llama|mistral|mixtral|ministral|pixtral|magistral|palmyra|v3)/, { streamedTools: false, efforts: {} }],
      [/^(titan|llama3-(8|70)b|mistral-7b|mixtral|jamba-instruct|r1|deepseek-r1)/, { tools: false }],
      [/^nova/, { efforts: {} }],
    ],
  ),
  ...rulesOf(['bedrock'], 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html', [
    [/^(embed-|cohere)/, { embeddingForm: 'texts', embeddingBatch: 96 }],
  ]),
  ...rulesOf(
    ['bedrock'],
    'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html',
    [[/^titan-embed-(text-v1|g1)/, { embeddingForm: 'text_only' }]],
  ),
]
