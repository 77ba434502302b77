import type { ChatAnswer, Reference } from '../../src/contract/chat.ts'
import type { CliCommand } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import { type Output, stripControl } from '../output.ts'
import { readEventStream } from '../read-event-stream.ts'

interface ChatOptions {
  sources: boolean
  agentic?: boolean
  filter?: string
}

/** `portico chat ENDPOINT QUESTION` */
export function addChatCommand(program: CliCommand): void {
  program
    .command('chat <endpoint> [question...]')
    .description(
      'Ask a published Space and stream its answer. Without an argument, the question is read from standard input.',
    )
    .option('--no-sources', 'without inline citation markers')
    .option('--agentic', 'allow several searches for one answer')
    .option('--filter <json>', 'only documents whose metadata match, such as {"customer": "acme"}')
    .examples(
      'portico chat "$PORTICO_ENDPOINT_ID" When is the museum open on Sundays?',
      'portico chat "$PORTICO_ENDPOINT_ID" --json < question.txt',
    )
    .run(async ({ output, organisation, process }, options: ChatOptions, endpoint: string, words: string[]) => {
      const question = (words.length > 0 ? words.join(' ') : await process.readInput()).trim()
      if (question === '')
        throw new UsageError('There is no question. Give it after the endpoint, or on standard input.')
      const filter = options.filter === undefined ? {} : { filter: readFilter(options.filter) }
      const response = await organisation().fetch('POST', `/v2/endpoints/${encodeURIComponent(endpoint)}/chat`, {
        body: JSON.stringify({ messages: [{ role: 'user', content: question }], streaming: !output.json, ...filter }),
        headers: {
          'content-type': 'application/json',
          'service-enable-inline-sources': String(options.sources),
          'service-enable-agentic-workflow': String(options.agentic ?? false),
        },
      })
      if (output.json) output.result((await response.json()) as ChatAnswer, () => {})
      else await printStream(output, response, process.signal)
    })
}

function readFilter(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--filter must be JSON such as {"customer": "acme"}.')
  }
}

async function printStream(output: Output, response: Response, signal: AbortSignal) {
  let complete = false
  try {
    for await (const { event, data } of readEventStream(response)) {
      const payload = JSON.parse(data) as {
        delta?: string
        references?: Reference[]
        error?: string
        count?: number
      }
      if (event === 'assistant_write') output.write(stripControl(payload.delta ?? ''))
      else if (event === 'references') printReferences(output, payload.references ?? [])
      else if (event === 'error') throw new FailedError(payload.error ?? 'The answer failed.')
      else if (event === 'done') complete = true
    }
  } catch (error) {
    output.write('\n')
    if (signal.aborted) throw new FailedError('Interrupted.')
    throw error
  }
  if (!complete) throw new FailedError('The connection ended in the middle of the answer. Repeat the command.')
}

function printReferences(output: Output, references: Reference[]) {
  output.line()
  for (const { id, title, url } of references) {
    output.line(stripControl(`  [${id}] ${title}${url === undefined ? '' : ` <${url}>`}`))
  }
}
