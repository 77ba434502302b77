import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import fs from 'node:fs'
import path from 'node:path'
import { makeTinyOnnx, tinyModelDimensions } from '../../scripts/make-tiny-onnx.ts'
import type { PinnedModel } from '../../src/documents/retrieval/index.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

/** A hub of models on this machine, with one tiny model. */

type HubFiles = Record<string, string | Buffer>

export const tinyFiles = { 'config.json': '{}', 'onnx/model.onnx': 'weights '.repeat(50_000) }

export const tinyModel = pinned(tinyFiles)

function pinned(files: HubFiles): PinnedModel {
  return {
    name: 'tiny',
    id: 'test/tiny',
    revision: 'abc123',
    licence: 'MIT',
    about: 'a test',
    dimensions: tinyModelDimensions,
    files: Object.entries(files).map(([file, content]) => ({
      path: file,
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
  }
}

/** A model that runs, of `makeTinyOnnx`. */
export function makeHubModel(): { files: HubFiles; model: PinnedModel } {
  const folder = makeTemporaryFolder('hub')
  makeTinyOnnx(folder)
  const read = (file: string) => fs.readFileSync(path.join(folder, file))
  const files = {
    ...Object.fromEntries(['config.json', 'tokenizer_config.json', 'tokenizer.json'].map((file) => [file, read(file)])),
    'onnx/model_quantized.onnx': read('onnx/model.onnx'),
  }
  return { files, model: pinned(files) }
}

export interface ModelHub {
  url: string
  requests: { url: string; range: string | undefined }[]
  /** What it does with a request; false: it answers as usual. */
  intercept: (request: http.IncomingMessage, response: http.ServerResponse) => boolean
  close(): void
}

export async function startModelHub(files: HubFiles = tinyFiles): Promise<ModelHub> {
  const server = http.createServer((request, response) => {
    hub.requests.push({ url: request.url!, range: request.headers.range })
    if (hub.intercept(request, response)) return
    const content = files[request.url!.replace('/test/tiny/resolve/abc123/', '')]
    if (content === undefined) return void response.writeHead(404).end()
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from > 0 ? 206 : 200).end(content.slice(from))
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
