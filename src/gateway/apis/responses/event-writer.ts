/** Numbers the events of one stream and writes them as server-sent events. */
export interface EventWriter {
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

export function itemAdded(writer: EventWriter, outputIndex: number, item: object): void {
  writer.event('response.output_item.added', `"output_index":${outputIndex},"item":${JSON.stringify(item)}`)
}

/** Returns the item as JSON. */
export function itemDone(writer: EventWriter, outputIndex: number, item: object): string {
  const json = JSON.stringify(item)
  writer.event('response.output_item.done', `"output_index":${outputIndex},"item":${json}`)
  return json
}
