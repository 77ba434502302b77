import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { makeTemporaryFolder } from '../../../test/harness/temporary-folder.ts'
import { isOnnxRuntimeInstalled } from '../../documents/retrieval/index.ts'
import { loadConfig } from '../config/index.ts'
import { type EmbedderDependencies, openEmbedder } from './embedders.ts'

it.skipIf(!isOnnxRuntimeInstalled())(
  'downloads a model of the hub through the proxy of the configuration',
  async () => {
    const targets: (string | undefined)[] = []
    await using proxy = createServer().on('connect', ({ url }, socket) => {
      targets.push(url)
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const config = loadConfig({
      PORTICO_DATA_DIR: makeTemporaryFolder('local-models'),
      PORTICO_EMBEDDER: 'onnx',
      PORTICO_EMBEDDING_MODEL: 'someone/tiny',
      HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    })
    const localModelFiles = { model: { id: 'another/model' } } as EmbedderDependencies['localModelFiles']
    const opened = openEmbedder({ config, localModelFiles } as EmbedderDependencies)
    await expect(opened).rejects.toThrow(/someone\/tiny could not be loaded/)
    expect(targets).toEqual(['huggingface.co:443'])
  },
)
