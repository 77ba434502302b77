import type { RecordedBody } from './check-request.ts'

/** Bodies in the style of other clients, for kinds that the shared recordings lack. */
export const writtenBodies: readonly RecordedBody[] = [
  {
    id: 'openai/developer',
    settings: { id: 'openai', format: 'openai', flavour: 'openai', apiKey: 'k' },
    body: {
      model: 'o3-mini',
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be ' },
            { type: 'text', text: 'brief.' },
          ],
        },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 100,
      temperature: 1,
      n: 1,
      store: false,
    },
  },
  {
    id: 'openai/tool-results',
    settings: { id: 'openai', format: 'openai', flavour: 'openai', apiKey: 'k' },
    body: {
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: 'Weather?', name: 'anna' },
        {
          role: 'assistant',
          content: '',
          refusal: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{ "city":"Paris" }' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Sunny' }] },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: null, parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: true,
      metadata: { purpose: 'test' },
      service_tier: 'flex',
      stop: 'END',
    },
  },
  {
    id: 'openai/image',
    settings: { id: 'openai', format: 'openai', flavour: 'openai', apiKey: 'k' },
    body: {
      model: 'gpt-4o',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
      response_format: { type: 'json_object' },
      tool_choice: { type: 'function', function: { name: 'weather' } },
      tools: [{ type: 'web_search' }],
    },
  },
  {
    id: 'azure/new-cap',
    settings: { id: 'azure', format: 'azure', baseUrl: 'https://x.openai.azure.com', apiKey: 'k' },
    model: 'gpt-4o',
    body: {
      messages: [{ role: 'user', content: 'Hello' }],
      max_completion_tokens: 50,
      service_tier: 'flex',
      stream: true,
    },
  },
  {
    id: 'groq/zero',
    settings: { id: 'groq', format: 'openai', flavour: 'groq', apiKey: 'k' },
    body: {
      model: 'llama-3.3-70b-versatile',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 0,
      max_tokens: 5,
    },
  },
  {
    id: 'moonshotai/fixed',
    settings: { id: 'moonshotai', format: 'openai', flavour: 'moonshotai', apiKey: 'k' },
    body: { model: 'kimi-k2.5', messages: [{ role: 'user', content: 'Hello' }], temperature: 1, top_p: 0.95 },
  },
  {
    id: 'moonshotai/tool-results',
    settings: { id: 'moonshotai', format: 'openai', flavour: 'moonshotai', apiKey: 'k' },
    body: {
      model: 'kimi-k2-thinking',
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Sunny' },
      ],
    },
  },
  {
    id: 'gemini/gemma',
    settings: { id: 'gemini', format: 'gemini', apiKey: 'k' },
    model: 'gemma-3-27b-it',
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    },
  },
  {
    id: 'gemini/nullable',
    settings: { id: 'gemini', format: 'gemini', apiKey: 'k' },
    model: 'gemini-2.5-pro',
    body: {
      contents: { parts: { text: 'Weather?' } },
      generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' }, responseModalities: ['TEXT'] },
      tools: [
        {
          functionDeclarations: [
            {
              name: 'weather',
              parameters: { type: 'OBJECT', properties: { city: { type: 'STRING', nullable: true } } },
            },
          ],
        },
      ],
    },
  },
  {
    id: 'anthropic/prefill',
    settings: { id: 'anthropic', format: 'anthropic', apiKey: 'k' },
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      messages: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: 'It is ' },
      ],
    },
  },
  {
    id: 'mistral/tool-results',
    settings: { id: 'mistral', format: 'openai', flavour: 'mistral', apiKey: 'k' },
    body: {
      model: 'mistral-small-latest',
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', name: 'weather', content: 'Sunny' },
      ],
    },
  },
  {
    id: 'unknown-host/plain',
    settings: {
      id: 'unknown-host',
      format: 'openai',
      flavour: 'unknown-host',
      baseUrl: 'https://host.test',
      apiKey: 'k',
    },
    body: { model: 'some-model', messages: [{ role: 'user', content: 'Hello' }], top_k: 40, max_completion_tokens: 5 },
  },
  {
    id: 'anthropic/tool-results',
    settings: { id: 'anthropic', format: 'anthropic', apiKey: 'k' },
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      temperature: 0.7,
      top_p: 1,
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: [{ type: 'text', text: 'No.' }] },
          ],
        },
      ],
      tools: [{ type: 'custom', name: 'weather', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      top_k: 5,
    },
  },
  {
    id: 'anthropic/thinking-replayed',
    settings: { id: 'anthropic', format: 'anthropic', apiKey: 'k' },
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
            { type: 'text', text: 'Hi.' },
          ],
        },
        { role: 'user', content: 'And now?' },
      ],
    },
  },
  {
    id: 'gemini/tool-results',
    settings: { id: 'gemini', format: 'gemini', apiKey: 'k' },
    model: 'gemini-3-flash-preview',
    body: {
      system_instruction: 'Be brief.',
      contents: [
        { role: 'user', parts: [{ text: 'Weather?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Paris' }, id: 'x1' } }] },
        { role: 'function', parts: [{ functionResponse: { name: 'weather', response: { sky: 'blue' }, id: 'x1' } }] },
      ],
      tools: [
        {
          function_declarations: [
            { name: 'weather', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } },
          ],
        },
      ],
      tool_config: { function_calling_config: { mode: 'AUTO' } },
      generation_config: { top_k: 3, presence_penalty: 0, candidate_count: 1 },
    },
  },
  {
    id: 'vertex/embeddings',
    settings: { id: 'vertex', format: 'vertex', project: 'p', region: 'europe-west4', apiKey: 'k' },
    kind: 'embeddings',
    model: 'text-embedding-005',
    body: { instances: [{ content: 'A text.' }], parameters: { outputDimensionality: 256 } },
  },
  {
    id: 'bedrock/tool-results',
    settings: { id: 'bedrock', format: 'bedrock', region: 'eu-central-1', apiKey: 'k' },
    model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    body: {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        { role: 'user', content: [{ text: 'Weather?' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'weather', input: {} } }] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 't1', content: [{ json: { sky: 'blue' } }], status: 'success' } }],
        },
      ],
      toolConfig: {
        tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object', properties: {} } } } }],
        toolChoice: { auto: {} },
      },
      inferenceConfig: { temperature: 1, topP: 0.9, maxTokens: 64 },
      additionalModelRequestFields: { top_k: 5 },
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
    },
  },
  {
    id: 'bedrock/embeddings',
    settings: { id: 'bedrock', format: 'bedrock', region: 'eu-central-1', apiKey: 'k' },
    kind: 'embeddings',
    model: 'cohere.embed-multilingual-v3',
    body: { texts: ['A text.'], input_type: 'search_document', truncate: 'END' },
  },
  {
    id: 'cohere/tool-results',
    settings: { id: 'cohere', format: 'cohere', apiKey: 'k' },
    body: {
      model: 'command-a-03-2025',
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          tool_plan: 'I look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'document', document: { data: '{"sky":"blue"}' } }] },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'W', parameters: { type: 'object', properties: {} } },
        },
      ],
      frequency_penalty: 0.4,
      p: 0.9,
      k: 5,
    },
  },
  {
    id: 'cohere/embeddings',
    settings: { id: 'cohere', format: 'cohere', apiKey: 'k' },
    kind: 'embeddings',
    body: { model: 'embed-v4.0', texts: ['A text.'], input_type: 'classification', embedding_types: ['int8'] },
  },
  {
    id: 'ollama/tool-results',
    settings: { id: 'ollama', format: 'ollama', baseUrl: 'http://127.0.0.1:11434' },
    body: {
      model: 'llama3.2',
      messages: [
        { role: 'user', content: 'Weather?', images: [] },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'weather', arguments: { city: 'Paris' } } }],
        },
        { role: 'tool', content: 'Sunny' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'W', parameters: { type: 'object', properties: {} } },
        },
      ],
      options: { temperature: 0.2, top_k: 3, num_predict: 10, stop: ['END'] },
      think: true,
      stream: false,
      format: { type: 'object' },
      keep_alive: '5m',
    },
  },
].map((body) => ({
  kind: 'chat',
  model: 'test-model',
  stream: 'stream' in body.body && body.body.stream === true,
  ...body,
})) as RecordedBody[]
