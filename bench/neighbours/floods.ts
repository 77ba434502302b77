import { connect, type Socket } from 'node:net'

/**
 * What one organisation sends to disturb the others. Usage: floods.ts KIND COUNT JSON. Prints a line when everything was sent for the first
 * time, and continues until it is ended.
 */

export interface FloodTarget {
  url: string
  /** The path of completions. */
  completions: string
  key: string
  spaceId: string
}

export type FloodKind = keyof typeof floods

const floods = {
  /** Streams that are opened at once and never read. */
  streams(count: number) {
    const body = JSON.stringify({
      model: 'flood-model',
      stream: true,
      messages: [{ role: 'user', content: 'chunks:20000 every:1' }],
    })
    for (let number = 0; number < count; number++) open(jsonHead(body.length) + body).pause()
    // Sockets that are not read do not keep the process running.
    setInterval(() => {}, 60_000)
  },
  /** Bodies of which a byte arrives every 100 ms. */
  'slow-bodies'(count: number) {
    trickle(Array.from({ length: count }, () => open(`${jsonHead(60_000)}{"model":"`)))
  },
  /** Headers that never end. */
  'half-headers'(count: number) {
    trickle(Array.from({ length: count }, () => open(`POST ${completions} HTTP/1.1\r\nhost: x\r\nx-more: `)))
  },
  /** Completions with bodies of 33 MB, so many at a time. */
  'large-bodies'(count: number) {
    const content = 'A sentence of a long text. '.repeat(7_000)
    const messages = Array.from({ length: 174 }, () => ({ role: 'user', content }))
    const body = Buffer.from(JSON.stringify({ model: 'flood-model', messages }))
    repeat(count, [jsonHead(body.length), body])
  },
  /** Uploads of 100 MB of parts that are as small as parts can be. */
  'tiny-parts'(count: number) {
    repeat(count, upload('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(1_800_000)))
  },
  /** Uploads of 20,000 fields, which are refused early. */
  fields(count: number) {
    repeat(count, upload('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nvalue\r\n'.repeat(20_000)))
  },
  /** One csv of 15 MB with a million columns. */
  'wide-csv'() {
    const row = (letter: string) => Array.from({ length: 1_000_000 }, (_, column) => `${letter}${column}`).join(',')
    const file = `${row('c')}\n${row('v')}\n`
    const [head, body] = upload(
      `--b\r\ncontent-disposition: form-data; name="file"; filename="wide.csv"\r\ncontent-type: text/csv\r\n\r\n${file}\r\n--b--\r\n`,
    )
    const socket = open(head)
    socket.end(body)
  },
}

const [kind, count, json] = process.argv.slice(2) as [FloodKind, string, string]
const target = JSON.parse(json) as FloodTarget
const { hostname, port } = new URL(target.url)
const { completions } = target
const trickleEveryMs = 100
const againMs = 50
floods[kind](Number(count))
console.log('sent')

function open(start: string): Socket {
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(start)
  return socket
}

function jsonHead(bytes: number): string {
  return `POST ${completions} HTTP/1.1\r\nhost: x\r\nx-api-key: ${target.key}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`
}

function upload(text: string): [string, Buffer] {
  const body = Buffer.from(text)
  return [
    `POST /v1/documents?spaceId=${target.spaceId} HTTP/1.1\r\nhost: x\r\nx-api-key: ${target.key}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${body.length}\r\n\r\n`,
    body,
  ]
}

function trickle(sockets: readonly Socket[]) {
  setInterval(() => {
    for (const socket of sockets) socket.write('x')
  }, trickleEveryMs)
}

/** Sends the request on so many connections, again and again. */
function repeat(connections: number, [head, body]: readonly [string, Buffer]) {
  const send = () => {
    const socket = open(head)
    socket.write(body)
    socket.resume()
    socket.once('data', () => setTimeout(() => socket.destroy(), againMs))
    socket.once('close', () => setTimeout(send, againMs))
  }
  for (let number = 0; number < connections; number++) send()
}
