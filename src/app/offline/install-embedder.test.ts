import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelHub, sendHalf, startModelHub, tinyFiles, tinyModel } from '../../../test/harness/model-hub.ts'
import { pinnedModels } from '../../documents/retrieval/index.ts'
import { installEmbedder, type InstallEmbedderTask } from './install-embedder.ts'

const weights = tinyFiles['onnx/model.onnx']

let root: string
let folder: string
let hub: ModelHub

beforeEach(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-embedder-'))
  folder = path.join(root, 'models/test/tiny')
  hub = await startModelHub()
})
afterEach(async () => {
  hub.close()
  fs.rmSync(root, { recursive: true, force: true })
})

const addressOf = (server: { address(): unknown }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function install(
  task: InstallEmbedderTask = {},
  environment: Record<string, string> = {},
  onProgress = (_line: string) => {},
) {
  const progress: string[] = []
  const report = (line: string) => {
    progress.push(line)
    onProgress(line)
  }
  const installed = await installEmbedder({ hub: hub.url, ...task }, report, {
    environment: { PORTICO_DATA_DIR: root, ...environment },
    models: [tinyModel],
  })
  return { ...installed, progress }
}
const installedText = (file: string) => fs.readFileSync(path.join(folder, file), 'utf8')

describe('portico embedder install', () => {
  it('fetches the pinned revision of each file once, with progress', async () => {
    const { newFiles, folder: stated, progress } = await install()
    expect(newFiles).toEqual(['config.json', 'onnx/model.onnx'])
    expect(stated).toBe(folder)
    for (const [file, text] of Object.entries(tinyFiles)) expect(installedText(file)).toBe(text)
    expect(progress.at(-1)).toBe('onnx/model.onnx: 100 % of 0.4 MB')
    expect((await install()).newFiles).toEqual([])
    expect(hub.requests.map(({ url }) => url)).toEqual([
      '/test/tiny/resolve/abc123/config.json',
      '/test/tiny/resolve/abc123/onnx/model.onnx',
    ])
  })

  it('continues an interrupted file', async () => {
    let sent: http.ServerResponse | undefined
    hub.intercept = (request, response) => {
      sent = response
      return sendHalf(request, response)
    }
    const cut = (line: string) => {
      if (line.startsWith('onnx')) sent?.destroy()
    }
    await expect(install({}, {}, cut)).rejects.toThrow(/was interrupted .*again to continue/)
    expect(fs.existsSync(path.join(folder, 'onnx/model.onnx'))).toBe(false)
    const there = fs.statSync(path.join(folder, 'onnx/model.onnx.partial')).size
    expect(there).toBeGreaterThan(0)
    hub.intercept = () => false
    expect((await install()).newFiles).toEqual(['onnx/model.onnx'])
    expect(hub.requests.at(-1)!.range).toBe(`bytes=${there}-`)
    expect(installedText('onnx/model.onnx')).toBe(weights)
  })

  it('begins again where the server sends all of the file', async () => {
    fs.mkdirSync(path.join(folder, 'onnx'), { recursive: true })
    fs.writeFileSync(path.join(folder, 'onnx/model.onnx.partial'), 'wrong start')
    hub.intercept = ({ url }, response) => {
      if (!url!.endsWith('model.onnx')) return false
      response.writeHead(200).end(weights)
      return true
    }
    await install()
    expect(installedText('onnx/model.onnx')).toBe(weights)
  })

  it.each([
    ['other bytes', 'x'.repeat(weights.length)],
    ['fewer bytes', 'x'],
    ['more bytes', `${weights}x`],
  ])('installs nothing with %s than the hash names', async (_name, sent) => {
    hub.intercept = ({ url }, response) => {
      if (!url!.endsWith('model.onnx')) return false
      response.writeHead(200).end(sent)
      return true
    }
    await expect(install()).rejects.toThrow(/the file onnx\/model\.onnx is (?:not the expected one|longer than)/)
    expect(fs.existsSync(path.join(folder, 'onnx/model.onnx'))).toBe(false)
  })

  it('replaces a file that has changed on the disk', async () => {
    await install()
    fs.writeFileSync(path.join(folder, 'config.json'), '[]')
    expect((await install()).newFiles).toEqual(['config.json'])
  })

  it('takes files that are there, checked, without a request', async () => {
    const from = path.join(root, 'given')
    fs.mkdirSync(path.join(from, 'onnx'), { recursive: true })
    await expect(install({ from })).rejects.toThrow(`${path.join(from, 'config.json')} cannot be read`)
    for (const [file, text] of Object.entries(tinyFiles)) fs.writeFileSync(path.join(from, file), text)
    expect((await install({ from })).newFiles).toHaveLength(2)
    expect(hub.requests).toEqual([])
    fs.rmSync(folder, { recursive: true })
    fs.writeFileSync(path.join(from, 'config.json'), '[]')
    await expect(install({ from })).rejects.toThrow('the file config.json is not the expected one')
  })

  it('goes through the proxy of the environment', async () => {
    const targets: string[] = []
    const proxy = http.createServer()
    proxy.on('connect', ({ url }, client: net.Socket) => {
      targets.push(url!)
      const socket = net.connect(Number(new URL(hub.url).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(client).pipe(socket)
      })
      socket.on('error', () => client.destroy())
      client.on('error', () => socket.destroy())
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    try {
      const task = { hub: 'http://hub.invalid' }
      expect((await install(task, { http_proxy: addressOf(proxy), no_proxy: '' })).newFiles).toHaveLength(2)
      expect(new Set(targets)).toEqual(new Set(['hub.invalid:80']))
    } finally {
      proxy.close()
    }
  })

  it('states what is wrong: the model, the status, the connection', async () => {
    await expect(install({ model: 'other' })).rejects.toThrow('the model other is not one of: tiny')
    hub.intercept = (_request, response) => Boolean(response.writeHead(503).end())
    await expect(install()).rejects.toThrow('the hub returned 503 for http')
    const closed = http.createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const address = addressOf(closed)
    closed.close()
    await once(closed, 'close')
    await expect(install({ hub: address })).rejects.toThrow(/cannot be reached for .*ECONNREFUSED.*--from FOLDER/)
  })
})

it('every pinned file has a hash and a size', () => {
  for (const { files, revision } of pinnedModels) {
    expect(revision).toMatch(/^[0-9a-f]{40}$/)
    expect(files.map(({ path: file }) => file)).toContain('onnx/model_quantized.onnx')
    for (const { bytes, sha256 } of files) {
      expect(bytes).toBeGreaterThan(0)
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    }
  }
})
