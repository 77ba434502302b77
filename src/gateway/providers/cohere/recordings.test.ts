import { describeRecordings } from '../../../../test/harness/recorded-wire.ts'
import { createCohereAdapter } from './index.ts'

describeRecordings('cohere', () => createCohereAdapter({ id: 'cohere', format: 'cohere', apiKey: 'test-key' }))
