import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestOrganisation } from './portico.ts'

/** The model of the stalling upstream, as clients name it. */
export const stallingModel = 'stalls'

/** A provider that sends the first chunk of a stream and then nothing, so that the client leaves during it. */
export async function startStallingUpstream() {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'The first words. ' }, finish_reason: null }]
    const chunk = { id: 'stalled', object: 'chat.completion.chunk', created: 1, model: stallingModel, choices }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    settings: settingsFor(`http://127.0.0.1:${port}/v1`),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function settingsFor(baseUrl: string) {
  const provider = { id: 'stalling', format: 'openai', flavour: 'generic', baseUrl, apiKey: 'sk-test', hosting: 'us' }
  const deployments = [{ provider: provider.id, prices: { input: '0.15', output: '0.6' } }]
  return {
    ollama: { detect: false },
    providers: [provider],
    models: [{ id: stallingModel, maxOutputTokens: 4096, contextTokens: 128_000, deployments }],
  }
}

/** Posts `body` and closes the connection after the first bytes of the response. Resolves to the response headers. */
export async function leaveAfterFirstBytes(
  url: string,
  { apiKey }: TestOrganisation,
  body: object | string,
): Promise<Headers> {
  const gone = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: gone.signal,
  })
  await response.body!.getReader().read()
  gone.abort()
  return response.headers
}
