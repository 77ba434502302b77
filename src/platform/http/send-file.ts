import { Readable } from 'node:stream'

const types = { csv: 'text/csv', json: 'application/json', jsonl: 'application/jsonl', md: 'text/markdown' }

/** Sends a file that the browser saves. Each part is made when the client has taken the one before; a client that leaves ends it. */
export function sendFile<Sent>(
  reply: { header(name: string, value: string): unknown; send(payload: never): Sent },
  name: string,
  format: keyof typeof types,
  parts: AsyncIterable<string>,
): Sent {
  reply.header('content-type', `${types[format]}; charset=utf-8`)
  reply.header('content-disposition', `attachment; filename="${name}.${format}"`)
  return reply.send(Readable.from(parts) as never)
}
