import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readToolRequest, scriptedTurn } from '../../test/upstream/scripted-model.ts'

/** One call of the model, in milliseconds of `performance.now()` in this process. */
export interface ModelCall {
  /** The head of its request arrived, and at least the first bytes of its body are on their way. */
  arrivedMs: number
  /** The host had sent its whole reply. */
  repliedMs: number
  /** The call rewrites a question instead of answering it. */
  isRewriting: boolean
}

/** The name of the scripted model for Spaces. */
export const scriptedModel = 'scripted'

/** A host with an OpenAI-compatible model in this process, which answers at once. */
export async function startScriptedModel(rewriting: () => string) {
  let calls: ModelCall[] = []
  const server = createServer(async (request, response) => {
    const arrivedMs = performance.now()
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { isRewriting } = readToolRequest(Buffer.concat(parts).toString())
    const { headers, body } = scriptedTurn(isRewriting ? rewriting() : 'The files say so [1].')
    response.writeHead(200, headers)
    response.end(body)
    calls.push({ arrivedMs, repliedMs: performance.now(), isRewriting })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    /** Of portico.yaml. */
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'bench', flavour: 'generic', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'sk-bench', hosting: 'us' },
      ],
      models: [
        {
          id: scriptedModel,
          contextTokens: 128_000,
          maxOutputTokens: 4_096,
          deployments: [{ provider: 'bench', prices: { input: '0.15', output: '0.6' } }],
        },
      ],
    },
    /** The calls since the last `takeCalls`. */
    takeCalls(): ModelCall[] {
      const taken = calls
      calls = []
      return taken
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
