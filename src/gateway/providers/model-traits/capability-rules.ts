import { everyModel, rulesOf } from './rules.ts'
import type { TraitRule } from './traits.ts'

/**
 * What models and hosts can do beyond text. An absent trait means that nothing is known: the request is sent, and the host decides. A rule for a
 * whole host states what its API has no place for.
 */
export const capabilityRules: readonly TraitRule[] = [
  ...rulesOf(['anthropic'], 'https://platform.claude.com/docs/en/api/messages', [
    [everyModel, { audio: false, severalChoices: false, logprobs: false, structured: 'tool' }],
  ]),
  ...rulesOf(['anthropic'], 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool', [
    [
      /^claude-(3-(5-haiku|7)|(opus|sonnet|haiku)-4|[a-z]+-([5-9]|[1-9]\d)(?!\d))/,
      { hostedTools: ['web_search', 'web_fetch', 'code_execution', 'tool_search', 'mcp'] },
    ],
  ]),
  ...rulesOf(['bedrock'], 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html', [
    [everyModel, { audio: false, severalChoices: false, logprobs: false, singleToolCall: false, structured: 'tool' }],
  ]),
  ...rulesOf(['bedrock'], 'https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html', [
    [
      /^(qwen3|gpt-oss|deepseek-v3|v3\.[1-9]|minimax|kimi|mistral-large-3|ministral|gemma-3|nemotron|glm)/,
      { structured: 'schema' },
    ],
  ]),
  ...rulesOf(
    ['bedrock'],
    'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html',
    [
      [
        /^(titan-text|llama3(?!-2-(11|90))|mistral-(7b|large-24|small)|mixtral|command|jamba|nova-micro|gpt-oss|qwen3(?!-vl)|deepseek|r1|v3)/,
        { images: false },
      ],
      [/^(nova-micro|gpt-oss)/, { files: false }],
    ],
  ),
  ...rulesOf(
    ['anthropic', 'bedrock', 'vertex'],
    'https://platform.claude.com/docs/en/build-with-claude/structured-outputs',
    [[/^claude-(opus-4-1|(opus|sonnet|haiku)-4-[5-9]|[a-z]+-([5-9]|[1-9]\d)(?!\d))/, { structured: 'schema' }]],
  ),
  ...rulesOf(
    ['anthropic', 'bedrock', 'vertex'],
    'https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking',
    [
      [/^claude-((3-7|(opus|sonnet|haiku)-4(?!-[6-9])))/, { thinking: 'budget' }],
      [/^claude-(opus-4-[7-9]|[a-z]+-([5-9]|[1-9]\d)(?!\d))/, { thinking: 'adaptive' }],
    ],
  ),
  ...rulesOf(['anthropic', 'bedrock', 'vertex'], 'https://platform.claude.com/docs/en/build-with-claude/pdf-support', [
    [/^claude-(2|instant)/, { images: false, files: false }],
    [/^claude-3-(opus|haiku|sonnet)-/, { files: false }],
  ]),
  ...rulesOf(['gemini', 'vertex'], 'https://ai.google.dev/api/generate-content', [
    [everyModel, { severalChoices: false, singleToolCall: false, logprobs: false }],
  ]),
  ...rulesOf(['gemini', 'vertex'], 'https://ai.google.dev/gemini-api/docs/structured-output', [
    [/^gemini-[12]/, { toolsWithSchema: false }],
    [/^gemma/, { structured: 'json_object', files: false, audio: false }],
  ]),
  ...rulesOf(['cohere'], 'https://docs.cohere.com/reference/chat', [
    [
      everyModel,
      {
        images: false,
        files: false,
        audio: false,
        severalChoices: false,
        singleToolCall: false,
        logprobs: false,
        toolsWithSchema: false,
      },
    ],
    [/^(command-a-vision|command-a-plus|c4ai-aya-vision|aya-vision)/, { images: true }],
  ]),
  ...rulesOf(['ollama'], 'https://docs.ollama.com/api/chat', [
    [
      everyModel,
      { files: false, audio: false, severalChoices: false, singleToolCall: false, logprobs: false, forcedTools: 'one' },
    ],
  ]),
  ...rulesOf(['openai', 'azure'], 'https://platform.openai.com/docs/models', [
    [/^(gpt-3\.5|gpt-4(-\d{4})?$|gpt-4-32k|o1-mini|o3-mini|davinci|babbage)/, { images: false, files: false }],
    [everyModel, { audio: false }],
    [/audio|realtime/, { audio: true, images: false, files: false }],
    // Models that reason; with the effort `none` some have them.
    [/^(o[134](?![a-z\d])|gpt-5(?!\.\d))/, { logprobs: false }],
    [/^(gpt-4(?![o.])|gpt-3\.5|o1-mini|o1-preview|chatgpt-4o|gpt-4o-2024-05-13)/, { structured: 'tool' }],
  ]),
  ...rulesOf(['mistral'], 'https://docs.mistral.ai/capabilities/vision/', [
    [
      /^(codestral|devstral|open-|mistral-(tiny|nemo|moderation|saba)|ministral-[38]b-24|magistral-[a-z]+-2506)/,
      { images: false },
    ],
    [everyModel, { logprobs: false }],
  ]),
  ...rulesOf(['mistral'], 'https://docs.mistral.ai/capabilities/audio/', [[/^(?!voxtral)/, { audio: false }]]),
  ...rulesOf(['groq'], 'https://console.groq.com/docs/structured-outputs', [
    [everyModel, { structured: 'json_object', severalChoices: false, logprobs: false, files: false, audio: false }],
    [/^(gpt-oss|kimi-k2|llama-4)/, { structured: 'schema' }],
    [/^(gpt-oss|kimi-k2|llama-3|qwen|deepseek|compound)/, { images: false }],
  ]),
  ...rulesOf(['deepseek'], 'https://api-docs.deepseek.com/api/create-chat-completion', [
    [everyModel, { images: false, files: false, audio: false, severalChoices: false, structured: 'json_object' }],
  ]),
  ...rulesOf(['xai'], 'https://docs.x.ai/docs/models', [
    [/^grok-(2(?!-vision)|3|code|build)/, { images: false }],
    [everyModel, { files: false, audio: false }],
  ]),
  ...rulesOf(['moonshotai'], 'https://platform.moonshot.ai/docs/api/chat', [
    [everyModel, { files: false, audio: false, logprobs: false, structured: 'json_object' }],
    [/^(moonshot-v1(?!.*vision)|kimi-k2(?!\.[5-9]))/, { images: false }],
  ]),
  ...rulesOf(['alibaba'], 'https://www.alibabacloud.com/help/en/model-studio/qwen-structured-output', [
    [everyModel, { files: false, structured: 'json_object' }],
    [/^qwen(?!.*(vl|omni))/, { images: false, audio: false }],
  ]),
  ...rulesOf(['perplexity'], 'https://docs.perplexity.ai/api-reference/chat-completions-post', [
    [everyModel, { audio: false, severalChoices: false, logprobs: false }],
  ]),
  ...rulesOf(['cerebras'], 'https://inference-docs.cerebras.ai/api-reference/chat-completions', [
    [everyModel, { images: false, files: false, audio: false, severalChoices: false }],
  ]),
  ...rulesOf(['offline'], 'docs/operate/providers.md', [
    [everyModel, { images: false, files: false, audio: false, severalChoices: false, logprobs: false }],
  ]),
]
