import { expect } from 'vitest'
import { loadResponsesSchemas } from './openapi-schemas.ts'

/** Streams of the Responses API: reading, checks against the published description, and the response that their deltas make. */

// Tests read events of many shapes.
// oxlint-disable-next-line typescript/no-explicit-any
export type ResponseEvent = any

const schemas = loadResponsesSchemas()

const eventSchemas: Record<string, string> = {
  'response.created': 'ResponseCreatedEvent',
  'response.in_progress': 'ResponseInProgressEvent',
  'response.completed': 'ResponseCompletedEvent',
  'response.incomplete': 'ResponseIncompleteEvent',
  'response.failed': 'ResponseFailedEvent',
  error: 'ResponseErrorEvent',
  'response.output_item.added': 'ResponseOutputItemAddedEvent',
  'response.output_item.done': 'ResponseOutputItemDoneEvent',
  'response.content_part.added': 'ResponseContentPartAddedEvent',
  'response.content_part.done': 'ResponseContentPartDoneEvent',
  'response.output_text.delta': 'ResponseTextDeltaEvent',
  'response.output_text.done': 'ResponseTextDoneEvent',
  'response.output_text.annotation.added': 'ResponseOutputTextAnnotationAddedEvent',
  'response.refusal.delta': 'ResponseRefusalDeltaEvent',
  'response.refusal.done': 'ResponseRefusalDoneEvent',
  'response.function_call_arguments.delta': 'ResponseFunctionCallArgumentsDeltaEvent',
  'response.function_call_arguments.done': 'ResponseFunctionCallArgumentsDoneEvent',
  'response.custom_tool_call_input.delta': 'ResponseCustomToolCallInputDeltaEvent',
  'response.custom_tool_call_input.done': 'ResponseCustomToolCallInputDoneEvent',
  'response.reasoning_summary_part.added': 'ResponseReasoningSummaryPartAddedEvent',
  'response.reasoning_summary_part.done': 'ResponseReasoningSummaryPartDoneEvent',
  'response.reasoning_summary_text.delta': 'ResponseReasoningSummaryTextDeltaEvent',
  'response.reasoning_summary_text.done': 'ResponseReasoningSummaryTextDoneEvent',
}

/** Members of a response object that Open Responses requires. */
const requiredMembers = [
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools',
  'tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning',
  'usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key',
].flatMap((names) => names.split(' '))

/** A response object by both descriptions of the API. */
export function expectResponse(response: ResponseEvent): void {
  for (const name of requiredMembers) expect(response, name).toHaveProperty(name)
  // OpenAI sends null before the end, which its description does not have.
  const { usage, ...rest } = response
  if (schemas) expect(schemas('Response', usage === null ? rest : response)).toEqual([])
}

/** Reads a whole stream and checks its frame: names, numbers, schemas, and the end. */
export function readResponseEvents(text: string): ResponseEvent[] {
  const frames = text.split('\n\n')
  expect(frames.pop()).toBe('')
  expect(frames.pop()).toBe('data: [DONE]')
  return frames.map((frame, index) => {
    const [head, data, ...rest] = frame.split('\n')
    expect(rest).toEqual([])
    const event: ResponseEvent = JSON.parse(data!.slice('data: '.length))
    expect(head).toBe(`event: ${event.type}`)
    expect(event.sequence_number).toBe(index)
    expectEvent(event)
    return event
  })
}

function expectEvent(event: ResponseEvent): void {
  const name = eventSchemas[event.type]
  expect(name, event.type).toBeDefined()
  if (event.response) expectResponse(event.response)
  const { usage, ...response } = event.response ?? {}
  const shown = event.response && usage === null ? { ...event, response } : event
  if (schemas) expect(schemas(name!, shown), JSON.stringify(event)).toEqual([])
}

/** The output that the events make, by the rules of the API: an item is added once, grows by deltas only, and is done once. */
export function foldResponseEvents(events: ResponseEvent[]): ResponseEvent[] {
  const output: ResponseEvent[] = []
  const done = new Set<number>()
  for (const event of events) {
    const index: number = event.output_index
    if (index === undefined) continue
    if (event.type === 'response.output_item.added') {
      expect(index).toBe(output.length)
      output.push(structuredClone(event.item))
      continue
    }
    const item = output[index]
    expect(item, JSON.stringify(event)).toBeDefined()
    expect(done.has(index), 'an event after the end of its item').toBe(false)
    if (event.type === 'response.output_item.done') {
      done.add(index)
      // What only the end of an item has.
      for (const name of ['status', 'encrypted_content'])
        if (event.item[name] !== undefined) item[name] = event.item[name]
      expect(item).toEqual(event.item)
    } else {
      expect(event.item_id).toBe(item.id)
      foldEvent(item, event)
    }
  }
  expect(done.size).toBe(output.length)
  return output
}

function foldEvent(item: ResponseEvent, event: ResponseEvent): void {
  const part = item.content?.[event.content_index]
  const summary = item.summary?.[event.summary_index]
  switch (event.type) {
    case 'response.content_part.added':
      expect(event.content_index).toBe(item.content.length)
      return void item.content.push(structuredClone(event.part))
    case 'response.content_part.done':
      return expect(part).toEqual(event.part)
    case 'response.output_text.delta':
      part.text += event.delta
      return void part.logprobs.push(...event.logprobs)
    case 'response.output_text.annotation.added':
      expect(event.annotation_index).toBe(part.annotations.length)
      return void part.annotations.push(event.annotation)
    case 'response.output_text.done':
      // Those that have arrived after the last delta.
      part.logprobs = event.logprobs
      return expect(part.text).toBe(event.text)
    case 'response.refusal.delta':
      part.refusal += event.delta
      return
    case 'response.refusal.done':
      return expect(part.refusal).toBe(event.refusal)
    case 'response.reasoning_summary_part.added':
      return void item.summary.push(structuredClone(event.part))
    case 'response.reasoning_summary_text.delta':
      summary.text += event.delta
      return
    case 'response.reasoning_summary_text.done':
      return expect(summary.text).toBe(event.text)
    case 'response.reasoning_summary_part.done':
      return expect(summary).toEqual(event.part)
    case 'response.function_call_arguments.delta':
      item.arguments += event.delta
      return
    case 'response.function_call_arguments.done':
      expect(event.name).toBe(item.name)
      return expect(item.arguments).toBe(event.arguments)
    case 'response.custom_tool_call_input.delta':
      item.input += event.delta
      return
    case 'response.custom_tool_call_input.done':
      return expect(item.input).toBe(event.input)
    default:
      throw new Error(`an unknown event ${event.type}`)
  }
}
