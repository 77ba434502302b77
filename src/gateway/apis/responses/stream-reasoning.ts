import { type EventWriter, itemAdded, itemDone } from './event-writer.ts'
import type { ReasoningReplay } from '../../providers/index.ts'
import { encryptReasoning, reasoningItem, summaryPart } from './items.ts'

/** Writes a reasoning item with one summary. */
export function openReasoning(writer: EventWriter, id: string, outputIndex: number) {
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

export type OpenReasoning = ReturnType<typeof openReasoning>
