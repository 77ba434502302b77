import type { ReactNode } from 'react'
import { forShell, quoted, type Snippet, type SnippetValues } from './snippet.ts'

const question = 'How is the weather in Basel?'

/** Complete programs for version 2: tools, a schema, and the Messages API. test/console/devtools.test.ts runs them. */
export function SnippetsOfVersion2(props: { values: SnippetValues; children: (snippets: Snippet[]) => ReactNode }) {
  return props.children(createSnippets(props.values))
}

function createSnippets(values: SnippetValues): Snippet[] {
  return [
    { label: 'curl · tool', code: curlTool(values) },
    { label: 'curl · schema', code: curlSchema(values) },
    { label: 'OpenAI · TypeScript', code: openaiTypeScript(values) },
    { label: 'AI SDK', code: aiSdk(values) },
    { label: 'Anthropic · TypeScript', code: anthropicTypeScript(values) },
  ]
}

function curlTool(values: SnippetValues): string {
  return curl(
    values,
    `"tools": [{"type": "function", "function": {
      "name": "weather",
      "description": "The weather of a city.",
      "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}
    }}]`,
  )
}

function curlSchema(values: SnippetValues): string {
  return curl(
    values,
    `"response_format": {"type": "json_schema", "json_schema": {
      "name": "place",
      "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    }}`,
  )
}

function curl({ baseUrl, apiKey, model }: SnippetValues, field: string): string {
  const body = `{
    "model": ${quoted(model)},
    "messages": [{"role": "user", "content": ${quoted(question)}}],
    ${field}
  }`
  return `curl ${forShell(`${baseUrl}/chat/completions`)} \\
  -H ${forShell(`Authorization: Bearer ${apiKey}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${forShell(body)}`
}

function openaiTypeScript({ baseUrl, apiKey, model }: SnippetValues): string {
  return `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${quoted(baseUrl)},
  apiKey: ${quoted(apiKey)},
})

const runner = client.chat.completions.runTools({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(question)} }],
  tools: [
    {
      type: 'function',
      function: {
        name: 'weather',
        description: 'The weather of a city.',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        parse: JSON.parse,
        function: async ({ city }: { city: string }) => \`It is sunny in \${city}.\`,
      },
    },
  ],
})
console.log(await runner.finalContent())`
}

function aiSdk({ baseUrl, apiKey, model }: SnippetValues): string {
  return `// npm install ai @ai-sdk/openai-compatible zod
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const portico = createOpenAICompatible({
  name: 'portico',
  baseURL: ${quoted(baseUrl)},
  apiKey: ${quoted(apiKey)},
  supportsStructuredOutputs: true,
})

const { text } = await generateText({
  model: portico(${quoted(model)}),
  prompt: ${quoted(question)},
  tools: {
    weather: tool({
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => \`It is sunny in \${city}.\`,
    }),
  },
  stopWhen: stepCountIs(3),
})
console.log(text)`
}

function anthropicTypeScript({ baseUrl, apiKey, model }: SnippetValues): string {
  return `// npm install @anthropic-ai/sdk
import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: ${quoted(`${baseUrl}/anthropic`)},
  apiKey: ${quoted(apiKey)},
})

const message = await client.messages.create({
  model: ${quoted(model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: ${quoted(question)} }],
  tools: [
    {
      name: 'weather',
      description: 'The weather of a city.',
      input_schema: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
})
for (const block of message.content) {
  if (block.type === 'text') console.log(block.text)
  if (block.type === 'tool_use') console.log(block.name, block.input)
}`
}
