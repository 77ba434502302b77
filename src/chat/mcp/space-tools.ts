import { z } from 'zod'
import { readValue } from '../../contract/validation.ts'
import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import type { Passage } from '../../documents/retrieval/index.ts'
import {
  type AnswerRequest,
  answerWhole,
  runUntil,
  type SendDependencies,
  type ToolProblem,
  type ToolResult,
  toolLimits,
  tools,
} from '../chat/index.ts'
import type { Space } from '../spaces/index.ts'

/** The tools that a published Space offers to clients of the Model Context Protocol. */

/** A call of one of them, within one request of a client. */
export interface SpaceVisit {
  request: AnswerRequest
  space: Space
  /** Only these documents exist for the client. */
  filter: MetadataFilter | null
  isOffered: () => boolean
}

/** `isError`: the text states what the client can correct. */
export interface SpaceToolResult {
  text: string
  structured?: Record<string, unknown>
  isError?: boolean
}

/** Longest question, UTF-16 units. */
const maximumQuestion = 10_000

const askDefinition = {
  name: 'ask',
  description:
    'Answers a question from the files of this Space, with numbered sources. The answer is written by the model of the Space.',
  parameters: {
    type: 'object' as const,
    properties: { question: { type: 'string', description: 'One question, complete in itself.' } },
    required: ['question'],
    additionalProperties: false,
  },
}
const askSchema = z.strictObject({ question: z.string().trim().min(1).max(maximumQuestion) })

/** Those of agentic answers that read files; the others need none. */
const readingTools = tools.filter(({ source }) => source !== 'CALCULATOR' && source !== 'CURRENT_DATE')

export const spaceToolDefinitions = [askDefinition, ...readingTools.map(({ definition }) => definition)]

/** Throws AppError for a failure that the client cannot correct with other arguments. */
export async function callSpaceTool(
  dependencies: SendDependencies,
  visit: SpaceVisit,
  name: string,
  given: Record<string, unknown>,
): Promise<SpaceToolResult> {
  if (name === askDefinition.name) return ask(dependencies, visit, given)
  const tool = readingTools.find(({ definition }) => definition.name === name)
  if (!tool) return wrong(`There is no tool ${name.slice(0, 100)}. tools/list names them.`)
  const use = tool.read(given)
  if ('problem' in use) return wrong(use.problem)
  const { request, space, filter } = visit
  const call = { organisation: request.organisation, space, filter }
  const context = { dependencies, call, given: [], signal: request.clientSignal }
  return render(await runUntil(AbortSignal.timeout(toolLimits.callMs), use, context))
}

async function ask(
  dependencies: SendDependencies,
  { request, space, filter, isOffered }: SpaceVisit,
  given: Record<string, unknown>,
): Promise<SpaceToolResult> {
  const { requestId, organisation, clientSignal } = request
  const read = readValue(askSchema, given, 'the arguments')
  if ('problem' in read) return wrong(read.problem.message)
  const agentic = 'service-enable-agentic-workflow'
  const headers = {
    'service-enable-inline-sources': 'true',
    'service-user': request.headers['service-user'],
    [agentic]: request.headers[agentic],
  }
  const asked = { headers, requestId, organisation, clientSignal }
  const answer = await answerWhole(dependencies, asked, read.value.question, { space, filter, isOffered })
  const sources = answer.references.map(({ title, url }, index) => `[${index + 1}] ${title}${url ? ` (${url})` : ''}`)
  return {
    text: sources.length === 0 ? answer.content : `${answer.content}\n\nSources:\n${sources.join('\n')}`,
    structured: { answer: answer.content, references: answer.references },
  }
}

const wrong = (text: string): SpaceToolResult => ({ text, isError: true })

function render(result: ToolResult | ToolProblem): SpaceToolResult {
  if ('problem' in result) return wrong([result.problem, result.quoted].filter(Boolean).join('\n'))
  const { passages, quoted, note } = result
  const parts = [quoted, ...passages.map(renderPassage), note].filter((part) => part !== undefined && part !== '')
  return { text: parts.length === 0 ? 'Nothing was found.' : parts.join('\n\n') }
}

function renderPassage(passage: Passage, index: number): string {
  const { documentName, documentId, headingPath, pageFrom, pageTo, rowFrom, rowTo, tableHeader, text } = passage
  const place = [range('page', pageFrom, pageTo), range('row', rowFrom, rowTo), headingPath.join(' › ')]
  const title = [documentName, ...place.filter((part) => part !== ''), `document ${documentId}`].join(', ')
  return [`[${index + 1}] ${title}`, tableHeader, text].filter(Boolean).join('\n')
}

const range = (name: string, from: number | null, to: number | null) =>
  from === null ? '' : to === null || to === from ? `${name} ${from}` : `${name}s ${from}–${to}`
