import { describeRecordings } from '../../../../test/harness/recorded-wire.ts'
import { createAnthropicAdapter } from './index.ts'

describeRecordings('anthropic', () =>
  createAnthropicAdapter({ id: 'anthropic', format: 'anthropic', apiKey: 'test-key' }),
)
