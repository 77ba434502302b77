import { describe, expect, test } from 'vitest'
import { createChunkRenderer } from '../../src/gateway/gateway/gateway.routes.ts'
import { createAdapter } from '../../src/gateway/providers/create-provider.ts'
import { loadCompatibleSchemas } from '../harness/openapi-schemas.ts'
import { sharedDataFolder } from '../harness/shared-data.ts'
import { settingsFor } from './record-provider.ts'
import { readWireIndex } from './wire-index.ts'

const folder = sharedDataFolder('wire')
const validate = loadCompatibleSchemas()
const identity = { id: 'chatcmpl-ours', createdSeconds: 1_760_000_000, model: 'public/model' }

const suite = folder && validate ? 'relayed chunks' : 'relayed chunks (skipped: shared data not found)'

describe.skipIf(!folder || !validate)(suite, () => {
  const index = folder ? readWireIndex(folder) : undefined
  const records = index?.records.filter(({ kind, api }) => kind === 'stream' && api === 'openai-chat') ?? []

  test.each(records.map((record) => [record.id, record] as const))(
    'of %s have the compatible API’s schema and one id, time and model, whatever the host adds',
    (_id, record) => {
      const reader = createAdapter(settingsFor(record, 'http://host.test')!).createStreamReader()
      const renderer = createChunkRenderer(identity, { includeUsage: false })
      let text = ''
      for (const event of [...reader.push(index!.bodyOf(record)), ...reader.end()]) {
        if (event.type === 'usage' || event.type === 'finish' || event.type === 'hosted_use') continue
        const line = renderer.event(event)
        if (line === '') continue
        const chunk = JSON.parse(line.slice('data: '.length)) as {
          choices: { delta: { content?: string } }[]
        }
        expect(validate!('CreateChatCompletionStreamResponse', chunk)).toEqual([])
        expect(chunk).toMatchObject({ id: identity.id, created: identity.createdSeconds, model: identity.model })
        text += chunk.choices[0]?.delta.content ?? ''
      }
      expect(text).toBe(record.expected.text)
    },
  )
})
