import type { TokenLogprob, UrlCitation } from '../../providers/index.ts'
import { type EventWriter, itemAdded, itemDone } from './event-writer.ts'
import { messageItem, refusalPart, renderAnnotation, renderLogprob, textPart } from './items.ts'

interface OpenPart {
  /** Members that name the part in its events. */
  head: string
  text: string
}

/** Writes the message. Its parts stay open until the end, as sources and further text may follow the calls. */
export function openMessage(writer: EventWriter, id: string, outputIndex: number) {
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

export type OpenMessage = ReturnType<typeof openMessage>
