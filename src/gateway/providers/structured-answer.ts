import { type JsonSchema, SchemaProblem, toPlainSchema } from '../conversation/index.ts'
import type { ModelTraits } from './model-traits/index.ts'
import type { ProviderEvent, ProviderRequest, ToolCall } from './port.ts'
import type { WireAdapter, WireAnswer, WireStreamReader } from './wire-adapter.ts'
import { failure } from './wire-failure.ts'

/** The tool whose arguments are the answer, for models without a native output format. No tool of a client has this name. */
export const answerToolName = 'portico_structured_answer'

const instruction = 'Answer with JSON only, without a code fence and without any other text.'

/**
 * The output format as the model has it: native formats stay for the adapter; for other models a forced tool, or the host's JSON mode with
 * the schema in the instructions.
 */
export function shapeResponseFormat(request: ProviderRequest, { structured, tools }: ModelTraits): void {
  const format = request.responseFormat!
  const form = structured ?? 'schema'
  if (form === 'schema') return
  const schema = format.type === 'json_schema' ? usableSchema(() => toPlainSchema(format.schema)) : { type: 'object' }
  if (form === 'tool' && tools !== false) useAnswerTool(request, schema)
  else {
    request.responseFormat = { type: 'json_object' }
    const matching = format.type === 'json_schema' ? ` It must match this JSON Schema:\n${JSON.stringify(schema)}` : ''
    const at = request.messages.findLastIndex(({ role }) => role === 'system' || role === 'developer') + 1
    request.messages = request.messages.toSpliced(at, 0, { role: 'system', content: instruction + matching })
  }
}

/** A model that may also call the client's tools must call one of them or answer. */
export function useAnswerTool(request: ProviderRequest, schema: JsonSchema): void {
  const format = request.responseFormat
  const others = request.tools ?? []
  const isForced = others.length === 0 || request.toolChoice === 'none'
  const answer = {
    name: answerToolName,
    description: (format?.type === 'json_schema' && format.description) || 'Gives the answer to the user.',
    // Arguments of tools are objects.
    parameters: schema,
  }
  request.tools = [...others, answer]
  request.toolChoice = isForced ? { name: answerToolName } : (namedOther(request) ?? 'required')
  delete request.responseFormat
}

/** The schema in the host's dialect. A schema that the dialect lacks becomes a forced tool, which takes every schema of an object. */
export function nativeSchemaOrTool(
  request: ProviderRequest,
  translate: (schema: JsonSchema) => JsonSchema,
): JsonSchema | undefined {
  const format = request.responseFormat
  if (format?.type !== 'json_schema') return undefined
  try {
    return translate(format.schema)
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    useAnswerTool(
      request,
      usableSchema(() => toPlainSchema(format.schema)),
    )
    return undefined
  }
}

function namedOther({ toolChoice }: ProviderRequest) {
  return typeof toolChoice === 'object' ? toolChoice : undefined
}

/** Runs a translation of a schema; a place that is impossible becomes the client's error. */
export function usableSchema<T>(translate: () => T): T {
  try {
    return translate()
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    throw failure(
      'invalid_request',
      `The schema of the answer cannot be used: ${error.pointer || 'its root'} ${error.message}.`,
      {
        status: 400,
        param: 'response_format',
        code: 'invalid_schema',
      },
    )
  }
}

/** An adapter whose answers give the call of the answer tool as text. */
export function withStructuredAnswers(adapter: WireAdapter): WireAdapter {
  return {
    ...adapter,
    fromResponse: (body, request, model) => unfoldAnswer(adapter.fromResponse(body, request, model)),
    createStreamReader: (request, model) => unfoldStream(adapter.createStreamReader(request, model)),
  }
}

function unfoldAnswer(answer: WireAnswer): WireAnswer {
  const isAnswer = ({ name }: ToolCall) => name === answerToolName
  if (!answer.toolCalls.some(isAnswer)) return answer
  const toolCalls = answer.toolCalls.filter((call) => !isAnswer(call))
  const [given] = answer.toolCalls.filter(isAnswer)
  return {
    ...answer,
    // A model may write before it answers.
    text: given!.argumentsJson,
    toolCalls,
    ...(answer.finishReason === 'tool_calls' && toolCalls.length === 0 && { finishReason: 'stop' }),
  }
}

function unfoldStream(reader: WireStreamReader): WireStreamReader {
  /** Place of the answer among the calls; null until it begins. */
  let answerIndex: number | null = null
  let others = 0
  const unfold = (events: ProviderEvent[]): ProviderEvent[] => {
    if (answerIndex === null && !events.some((event) => event.type === 'tool_call')) return events
    return events.flatMap((event): ProviderEvent[] => {
      if (event.type === 'finish' && answerIndex !== null && others === 0 && event.finishReason === 'tool_calls')
        return [{ ...event, finishReason: 'stop' }]
      if (event.type !== 'tool_call') return [event]
      if (event.name === answerToolName) answerIndex ??= event.index
      if (event.index === answerIndex)
        return event.argumentsDelta === '' ? [] : [{ type: 'text', text: event.argumentsDelta }]
      if (event.name === answerToolName) return []
      if (event.name !== undefined) others++
      return [answerIndex !== null && event.index > answerIndex ? { ...event, index: event.index - 1 } : event]
    })
  }
  return {
    push: (bytes) => unfold(reader.push(bytes)),
    end: () => unfold(reader.end()),
    ...(reader.pendingError && { pendingError: () => reader.pendingError!() }),
  }
}
