import { forShell, quoted, type Snippet, type SnippetValues } from './snippet.ts'

const question = 'Greet me in one sentence.'

/** Complete programs for the gateway, to run as they are. test/console/devtools.test.ts runs them. */
export function createSnippets(values: SnippetValues): Snippet[] {
  return [
    { label: 'curl', code: curl(values) },
    { label: 'OpenAI · TypeScript', code: openaiTypeScript(values) },
    { label: 'OpenAI · Python', code: openaiPython(values) },
    { label: 'AI SDK', code: aiSdk(values) },
    { label: 'LangChain · TypeScript', code: langchainTypeScript(values) },
    { label: 'LangChain · Python', code: langchainPython(values) },
  ]
}

function curl({ baseUrl, apiKey, model }: SnippetValues): string {
  const body = `{
    "model": ${quoted(model)},
    "messages": [{"role": "user", "content": ${quoted(question)}}]
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

const completion = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(question)} }],
})
console.log(completion.choices[0]?.message.content)`
}

function openaiPython({ baseUrl, apiKey, model }: SnippetValues): string {
  return `# pip install openai
from openai import OpenAI

client = OpenAI(
    base_url=${quoted(baseUrl)},
    api_key=${quoted(apiKey)},
)

completion = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": ${quoted(question)}}],
)
print(completion.choices[0].message.content)`
}

function aiSdk({ baseUrl, apiKey, model }: SnippetValues): string {
  return `// npm install ai @ai-sdk/openai-compatible
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const portico = createOpenAICompatible({
  name: 'portico',
  baseURL: ${quoted(baseUrl)},
  apiKey: ${quoted(apiKey)},
})

const { text } = await generateText({
  model: portico(${quoted(model)}),
  prompt: ${quoted(question)},
})
console.log(text)`
}

function langchainTypeScript({ baseUrl, apiKey, model }: SnippetValues): string {
  return `// npm install @langchain/openai @langchain/core
import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: ${quoted(model)},
  apiKey: ${quoted(apiKey)},
  configuration: { baseURL: ${quoted(baseUrl)} },
  useResponsesApi: false,
})

const answer = await model.invoke(${quoted(question)})
console.log(answer.content)`
}

function langchainPython({ baseUrl, apiKey, model }: SnippetValues): string {
  return `# pip install langchain-openai
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(model)},
    api_key=${quoted(apiKey)},
    base_url=${quoted(baseUrl)},
    use_responses_api=False,
)

answer = model.invoke(${quoted(question)})
print(answer.content)`
}
