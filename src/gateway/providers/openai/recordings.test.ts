import { describeRecordings } from '../../../../test/harness/recorded-wire.ts'
import { createOpenAiAdapter } from './index.ts'

for (const flavour of [
  'openai',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'perplexity',
  'cerebras',
  'alibaba',
  'moonshotai',
]) {
  describeRecordings(flavour, () => createOpenAiAdapter({ id: 'x', format: 'openai', flavour, apiKey: 'test-key' }))
}
describeRecordings('azure', () =>
  createOpenAiAdapter({ id: 'x', format: 'azure', baseUrl: 'https://example.openai.azure.com', apiKey: 'test-key' }),
)
