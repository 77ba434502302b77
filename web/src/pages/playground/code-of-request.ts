import { forShell, quoted, type Snippet } from '../devtools/snippet.ts'
import type { Attachment } from './attachments.ts'
import { requestBody, type RequestSettings, type Turn } from './request.ts'

/** Programs that send the request on the page. Attachments are read from files in the folder of the program. */

/** In the place of a data URL: the attachment whose file the program reads. */
class FileUrl {
  readonly attachment: Attachment
  constructor(attachment: Attachment) {
    this.attachment = attachment
  }
}

export interface CodeValues {
  baseUrl: string
  apiKey: string
}

/** The request that ends with the last message of `turns`; test/console/playground.test.ts runs the programs. */
export function createCode(settings: RequestSettings, turns: Turn[], values: CodeValues): Snippet[] {
  const body = requestBody(settings, turns, (attachment) => new FileUrl(attachment))
  // The code asks for the last answer again.
  const messages = body['messages'] as { role: string }[]
  if (messages.at(-1)?.role === 'assistant') messages.pop()
  return [
    { label: 'curl', code: curl(body, values) },
    { label: 'OpenAI · Python', code: python(body, values) },
    { label: 'OpenAI · TypeScript', code: typeScript(body, values) },
  ]
}

/** A document of the shell, because its arguments are too short for files. */
function curl(body: object, { baseUrl, apiKey }: CodeValues): string {
  const json = write(body, {
    name: quotedForDocument,
    text: quotedForDocument,
    file: ({ name, mediaType }) => `"data:${mediaType};base64,$(base64 < ${forShell(`./${name}`)} | tr -d '\\n')"`,
  })
  return `curl ${forShell(`${baseUrl}/chat/completions`)} \\
  -H ${forShell(`Authorization: Bearer ${apiKey}`)} \\
  -H 'Content-Type: application/json' \\
  --data-binary @- <<JSON
${json}
JSON`
}

/** In a document of the shell, backslash, dollar and backtick have a meaning. */
const quotedForDocument = (text: string) => quoted(text).replaceAll(/[\\$`]/g, '\\$&')

function python(body: object, { baseUrl, apiKey }: CodeValues): string {
  const style: Style = {
    name: quoted,
    text: quoted,
    file: ({ name, mediaType }) => `data_url(${quoted(name)}, ${quoted(mediaType)})`,
    words: { true: 'True', false: 'False', null: 'None' },
  }
  const fields = Object.entries(body).map(([name, value]) => `    ${name}=${write(value, style, 1)},`)
  const readsFiles = hasFiles(body)
  return `# pip install openai
${readsFiles ? 'from base64 import b64encode\nfrom pathlib import Path\n\n' : ''}from openai import OpenAI

client = OpenAI(base_url=${quoted(baseUrl)}, api_key=${quoted(apiKey)})
${
  readsFiles
    ? `

def data_url(name, media_type):
    return f"data:{media_type};base64,{b64encode(Path(name).read_bytes()).decode()}"

`
    : ''
}
completion = client.chat.completions.create(
${fields.join('\n')}
)
print(completion.choices[0].message)`
}

function typeScript(body: object, { baseUrl, apiKey }: CodeValues): string {
  const json = write(body, {
    name: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
    text: quoted,
    file: ({ name, mediaType }) => `dataUrl(${quoted(name)}, ${quoted(mediaType)})`,
  })
  const readsFiles = hasFiles(body)
  return `// npm install openai
${readsFiles ? "import { readFileSync } from 'node:fs'\n" : ''}import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${quoted(baseUrl)},
  apiKey: ${quoted(apiKey)},
})
${
  readsFiles
    ? `
const dataUrl = (name: string, mediaType: string) =>
  \`data:\${mediaType};base64,\${readFileSync(name).toString('base64')}\`
`
    : ''
}
const completion = await client.chat.completions.create(${json})
console.log(JSON.stringify(completion.choices[0].message, null, 2))`
}

interface Style {
  name: (text: string) => string
  text: (text: string) => string
  file: (attachment: Attachment) => string
  words?: Record<string, string>
}

/** A value as a literal, indented by `level` steps. Its nesting is that of the editors' JSON, which the gateway bounds. */
function write(value: unknown, style: Style, level = 0): string {
  const step = style.words ? '    ' : '  '
  const line = `\n${step.repeat(level + 1)}`
  const framed = (open: string, parts: string[], close: string) =>
    parts.length === 0 ? open + close : `${open}${line}${parts.join(`,${line}`)}\n${step.repeat(level)}${close}`
  if (value instanceof FileUrl) return style.file(value.attachment)
  if (typeof value === 'string') return style.text(value)
  if (Array.isArray(value))
    return framed(
      '[',
      value.map((entry) => write(entry, style, level + 1)),
      ']',
    )
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${style.name(name)}: ${write(member, style, level + 1)}`,
    )
    return framed('{', members, '}')
  }
  const word = String(value)
  return style.words?.[word] ?? word
}

function hasFiles(value: unknown): boolean {
  if (value instanceof FileUrl) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasFiles)
}
