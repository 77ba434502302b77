import type { CompletionEvent } from '../../gateway/index.ts'
import type { ReasoningReplay, TokenLogprob, UrlCitation } from '../../providers/index.ts'
import {
  callItem,
  createItemIds,
  encryptReasoning,
  messageItem,
  reasoningItem,
  refusalPart,
  renderAnnotation,
  renderLogprob,
  summaryPart,
  textPart,
} from './items.ts'
import { customInput } from './parse-tools.ts'

type CallEvent = CompletionEvent & { type: 'tool_call' }

/**
 * The items of a streamed response. There is one message, which ends with the response. Reasoning ends when something else begins; the
 * provider's own blocks of it, which a client must send back, follow at the end in a second item.
 */
export function createStreamOutput(writer: EventWriter, responseId: string, customTools: readonly string[]) {
  const itemId = createItemIds(responseId)
  /** Closed items as JSON, by output index. */
  const output: string[] = []
  let items = 0
  let reasoning: OpenReasoning | undefined
  let message: OpenMessage | undefined
  const calls = new Map<number, OpenCall>()
  const hosted = createHostedItems(writer)
  /** The beginning of calls whose names are still to come. */
  const unnamed = new Map<number, { id: string | undefined; argumentsJson: string }>()

  const toReasoning = () => (reasoning ??= openReasoning(writer, itemId('rs', items), items++))
  const toMessage = () => (message ??= openMessage(writer, itemId('msg', items), items++))
  const closeReasoning = (replay?: ReasoningReplay) => {
    if (reasoning) output[reasoning.outputIndex] = reasoning.close(replay)
    reasoning = undefined
  }
  const writeCall = ({ index, id, name, argumentsDelta }: CallEvent) => {
    const call = calls.get(index)
    if (call) return call.write(argumentsDelta)
    const waiting = unnamed.get(index)
    const callId = id ?? waiting?.id
    const argumentsJson = (waiting?.argumentsJson ?? '') + argumentsDelta
    if (name === undefined) return void unnamed.set(index, { id: callId, argumentsJson })
    const isCustom = customTools.includes(name)
    const newId = itemId(isCustom ? 'ctc' : 'fc', items)
    const begun = openCall(writer, { itemId: newId, callId: callId ?? `call_${newId}`, name, isCustom }, items++)
    calls.set(index, begun)
    begun.write(argumentsJson)
  }

  return {
    write(event: CompletionEvent): void {
      switch (event.type) {
        case 'reasoning':
          return toReasoning().write(event.text)
        case 'text':
          closeReasoning()
          return toMessage().write(event.text)
        case 'refusal':
          closeReasoning()
          return toMessage().refuse(event.text)
        case 'tool_call':
          closeReasoning()
          return writeCall(event)
        case 'logprobs':
          return toMessage().addLogprobs(event.logprobs)
        case 'citations':
          return toMessage().cite(event.citations)
        case 'hosted_item':
          closeReasoning()
          return hosted.write(event, output, () => items++)
        case 'replay':
          toReasoning()
          return closeReasoning(event.replay)
        // Of further choices and of other client APIs.
        default:
          return
      }
    },
    /** Ends what is open; of a cut answer only the last item is incomplete. */
    close(isCut: boolean): void {
      closeReasoning()
      if (calls.size === 0) toMessage()
      const open = [...(message ? [message] : []), ...calls.values()].toSorted((a, b) => a.outputIndex - b.outputIndex)
      for (const item of open)
        output[item.outputIndex] = item.close(isCut && item === open.at(-1) ? 'incomplete' : 'completed')
    },
    /** The JSON of the items that have ended. */
    items: (): string[] => output.filter((item) => item !== undefined),
  }
}

interface OpenPart {
  /** Members that name the part in its events. */
  head: string
  text: string
}

/** Writes the message. Its parts stay open until the end, as sources and further text may follow the calls. */
function openMessage(writer: EventWriter, id: string, outputIndex: number) {
  /** At most one of each kind, in the order of their beginning. */
  const parts = new Map<'text' | 'refusal', OpenPart>()
  const logprobs: object[] = []
  /** Of `logprobs`, how many the deltas have had. */
  let sentLogprobs = 0
  let citations: readonly UrlCitation[] = []
  itemAdded(writer, outputIndex, messageItem(id, 'in_progress', []))

  const partOf = (kind: 'text' | 'refusal'): OpenPart => {
    const open = parts.get(kind)
    if (open) return open
    const head = `"item_id":"${id}","output_index":${outputIndex},"content_index":${parts.size}`
    const empty = kind === 'text' ? textPart('', [], []) : refusalPart('')
    writer.event('response.content_part.added', `${head},"part":${JSON.stringify(empty)}`)
    const part = { head, text: '' }
    parts.set(kind, part)
    return part
  }
  const closeText = ({ head, text }: OpenPart): object => {
    const annotations = citations.map(renderAnnotation)
    for (const [index, annotation] of annotations.entries()) {
      const members = `${head},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`
      writer.event('response.output_text.annotation.added', members)
    }
    const members = `${head},"text":${JSON.stringify(text)},"logprobs":${JSON.stringify(logprobs)}`
    writer.event('response.output_text.done', members)
    return textPart(text, annotations, logprobs)
  }
  const closeRefusal = ({ head, text }: OpenPart): object => {
    writer.event('response.refusal.done', `${head},"refusal":${JSON.stringify(text)}`)
    return refusalPart(text)
  }

  return {
    outputIndex,
    write(delta: string): void {
      const part = partOf('text')
      part.text += delta
      const unsent = logprobs.length === sentLogprobs ? '[]' : JSON.stringify(logprobs.slice(sentLogprobs))
      sentLogprobs = logprobs.length
      writer.event('response.output_text.delta', `${part.head},"delta":${JSON.stringify(delta)},"logprobs":${unsent}`)
    },
    refuse(delta: string): void {
      const part = partOf('refusal')
      part.text += delta
      writer.event('response.refusal.delta', `${part.head},"delta":${JSON.stringify(delta)}`)
    },
    addLogprobs(more: readonly TokenLogprob[]): void {
      for (const logprob of more) logprobs.push(renderLogprob(logprob))
    },
    cite(all: readonly UrlCitation[]): void {
      citations = all
    },
    /** Returns the item as JSON. An answer without any text has an empty one. */
    close(status: 'completed' | 'incomplete'): string {
      if (parts.size === 0) partOf('text')
      const content: object[] = []
      for (const [kind, part] of parts) {
        const done = kind === 'text' ? closeText(part) : closeRefusal(part)
        writer.event('response.content_part.done', `${part.head},"part":${JSON.stringify(done)}`)
        content.push(done)
      }
      return itemDone(writer, outputIndex, messageItem(id, status, content))
    },
  }
}

type OpenMessage = ReturnType<typeof openMessage>

/** Writes a reasoning item with one summary. */
function openReasoning(writer: EventWriter, id: string, outputIndex: number) {
  const place = `"item_id":"${id}","output_index":${outputIndex},"summary_index":0`
  let text = ''
  itemAdded(writer, outputIndex, reasoningItem(id, '', null))
  return {
    outputIndex,
    write(delta: string): void {
      if (text === '')
        writer.event('response.reasoning_summary_part.added', `${place},"part":${JSON.stringify(summaryPart(''))}`)
      text += delta
      writer.event('response.reasoning_summary_text.delta', `${place},"delta":${JSON.stringify(delta)}`)
    },
    /** Returns the item as JSON. */
    close(replay: ReasoningReplay | undefined): string {
      if (text !== '') {
        writer.event('response.reasoning_summary_text.done', `${place},"text":${JSON.stringify(text)}`)
        writer.event('response.reasoning_summary_part.done', `${place},"part":${JSON.stringify(summaryPart(text))}`)
      }
      return itemDone(writer, outputIndex, reasoningItem(id, text, encryptReasoning(text, replay)))
    },
  }
}

type OpenReasoning = ReturnType<typeof openReasoning>

/** Events of what the provider runs keep their form; the place of the item and the number are those in this response. */
function createHostedItems(writer: EventWriter) {
  /** Output index by the id of the item. */
  const places = new Map<string, number>()
  return {
    /** An item that has ended is added to `output`. */
    write(
      { itemId, event }: CompletionEvent & { type: 'hosted_item' },
      output: string[],
      nextPlace: () => number,
    ): void {
      const place = places.get(itemId) ?? nextPlace()
      places.set(itemId, place)
      const { type, sequence_number: _number, output_index: _index, ...members } = event
      writer.event(String(type), `"output_index":${place},${JSON.stringify(members).slice(1, -1)}`)
      if (type === 'response.output_item.done') output[place] = JSON.stringify(members.item)
    },
  }
}

interface CallIdentity {
  itemId: string
  callId: string
  name: string
  /** The input of a custom tool is one text inside the arguments, so it is written when they are complete. */
  isCustom: boolean
}

/** Writes a call of a tool; calls that the provider mixes stay open next to each other. */
function openCall(writer: EventWriter, { itemId, callId, name, isCustom }: CallIdentity, outputIndex: number) {
  const place = `"item_id":"${itemId}","output_index":${outputIndex}`
  let argumentsJson = ''
  const item = (status: 'in_progress' | 'completed' | 'incomplete') =>
    callItem(itemId, status, { id: callId, name, argumentsJson }, isCustom)
  itemAdded(writer, outputIndex, item('in_progress'))
  return {
    outputIndex,
    write(delta: string): void {
      if (delta === '') return
      argumentsJson += delta
      if (!isCustom) writer.event('response.function_call_arguments.delta', `${place},"delta":${JSON.stringify(delta)}`)
    },
    /** Returns the item as JSON. */
    close(status: 'completed' | 'incomplete'): string {
      if (isCustom) {
        const input = JSON.stringify(customInput(argumentsJson))
        writer.event('response.custom_tool_call_input.delta', `${place},"delta":${input}`)
        writer.event('response.custom_tool_call_input.done', `${place},"input":${input}`)
      } else {
        const members = `${place},"name":${JSON.stringify(name)},"arguments":${JSON.stringify(argumentsJson)}`
        writer.event('response.function_call_arguments.done', members)
      }
      return itemDone(writer, outputIndex, item(status))
    },
  }
}

type OpenCall = ReturnType<typeof openCall>

/** Numbers the events of one stream and writes them as server-sent events. */
interface EventWriter {
  /** `members` are those after type and sequence number, as JSON without braces. */
  event(type: string, members: string): void
  /** What was written since the last call. */
  take(): string
}

export function createEventWriter(): EventWriter {
  let sequence = 0
  let written = ''
  return {
    event(type, members) {
      written += `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence++},${members}}\n\n`
    },
    take() {
      const text = written
      written = ''
      return text
    },
  }
}

function itemAdded(writer: EventWriter, outputIndex: number, item: object): void {
  writer.event('response.output_item.added', `"output_index":${outputIndex},"item":${JSON.stringify(item)}`)
}

/** Returns the item as JSON. */
function itemDone(writer: EventWriter, outputIndex: number, item: object): string {
  const json = JSON.stringify(item)
  writer.event('response.output_item.done', `"output_index":${outputIndex},"item":${json}`)
  return json
}
