import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { type RequestOptions, send } from './client.ts'

export interface EventAnswer {
  /** The headers of the answer, for instance `x-request-id`. */
  headers: Headers
  events: AsyncGenerator<EventSourceMessage>
}

/** Sends JSON and reads the answer as Server-Sent Events while they arrive. `signal` ends the answer at the server too. */
export async function postEvents(path: string, body: unknown, options: RequestOptions = {}): Promise<EventAnswer> {
  const response = await send('POST', path, body, {
    ...options,
    headers: { accept: 'text/event-stream', ...options.headers },
  })
  return { headers: response.headers, events: readEvents(response.body!) }
}

async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<EventSourceMessage> {
  const received: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => received.push(event) })
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text)
    yield* received.splice(0)
  }
}
