import { describeRecordings } from '../../../../test/harness/recorded-wire.ts'
import { createGeminiAdapter, createVertexAdapterWith } from './index.ts'

describeRecordings('gemini', () => createGeminiAdapter({ id: 'gemini', format: 'gemini', apiKey: 'test-key' }))
describeRecordings('vertex', () =>
  createVertexAdapterWith({ id: 'vertex', format: 'vertex', project: 'p', region: 'eu' }, async () => 'token'),
)
