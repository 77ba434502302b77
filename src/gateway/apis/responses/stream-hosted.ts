import type { CompletionEvent } from '../../gateway/index.ts'
import type { EventWriter } from './event-writer.ts'

/** Events of what the provider runs keep their form; the place of the item and the number are those in this response. */
export function createHostedItems(writer: EventWriter) {
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
