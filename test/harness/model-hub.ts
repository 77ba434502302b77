import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PinnedModel } from '../../src/documents/retrieval/index.ts'

/** A hub of models on this machine, with one tiny model. */

export const tinyFiles = { 'config.json': '{}', 'onnx/model.onnx': 'weights '.repeat(50_000) }

export const tinyModel: PinnedModel = {
  name: 'tiny',
  id: 'test/tiny',
  revision: 'abc123',
  licence: 'MIT',
  about: 'a test',
  files: Object.entries(tinyFiles).map(([file, text]) => ({
    path: file,
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
  })),
}

export interface ModelHub {
  url: string
  requests: { url: string; range: string | undefined }[]
  /** What it does with a request; false: it answers as usual. */
  intercept: (request: http.IncomingMessage, response: http.ServerResponse) => boolean
  close(): void
}

export async function startModelHub(): Promise<ModelHub> {
  const server = http.createServer((request, response) => {
    hub.requests.push({ url: request.url!, range: request.headers.range })
    if (hub.intercept(request, response)) return
    const text = (tinyFiles as Record<string, string>)[request.url!.replace('/test/tiny/resolve/abc123/', '')]
    if (text === undefined) return void response.writeHead(404).end()
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from > 0 ? 206 : 200).end(text.slice(from))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const hub: ModelHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    intercept: () => false,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return hub
}

/** Sends a part of the weights and no end. */
export function sendHalf({ url }: http.IncomingMessage, response: http.ServerResponse): boolean {
  if (!url!.endsWith('model.onnx')) return false
  const weights = tinyFiles['onnx/model.onnx']
  response.writeHead(200, { 'content-length': weights.length })
  response.write(weights.slice(0, weights.length / 2))
  return true
}
