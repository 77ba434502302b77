import { describeRecordings } from '../../../../test/harness/recorded-wire.ts'
import { createBedrockAdapter } from './index.ts'

describeRecordings('bedrock', () =>
  createBedrockAdapter({ id: 'bedrock', format: 'bedrock', region: 'eu-central-1', apiKey: 'test-key' }),
)
