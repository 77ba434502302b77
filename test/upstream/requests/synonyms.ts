/** Forms that canonical-body.ts treats as equal, for the page. */
export const synonyms: readonly { formats: string; what: string; reason: string }[] = [
  {
    formats: 'all',
    what: 'order of members; `null`; empty lists and objects',
    reason: 'JSON has no order, and these have no effect',
  },
  {
    formats: 'all',
    what: '`stream: false`, `tool_choice: auto`, `n: 1`, `prefix: false`, an empty tool description',
    reason: 'the default of every host',
  },
  { formats: 'all', what: 'a text as a string, as one text part or as several', reason: 'hosts join the parts' },
  { formats: 'openai, cohere, ollama', what: '`stop` as a string or a list of one', reason: 'both are documented' },
  {
    formats: 'openai, cohere, ollama',
    what: 'arguments of a tool call as JSON text or as the object',
    reason: 'spaces in the text have no meaning',
  },
  {
    formats: 'anthropic, gemini, bedrock',
    what: 'adjacent messages of one role as one turn; tool results before text in a turn',
    reason: 'the hosts merge them or require it',
  },
  {
    formats: 'anthropic',
    what: '`system` as a string or as blocks, blank or absent; a tool of type `custom`',
    reason: 'both are documented; the default',
  },
  { formats: 'gemini', what: '`responseModalities: ["TEXT"]`', reason: 'the default of a text model' },
  {
    formats: 'gemini',
    what: '`snake_case` and `camelCase`; the role of `systemInstruction`; role `function` as `user`; case of `thinkingLevel`',
    reason: 'protocol buffers accept both; the role is not read; an older name; Google reads both',
  },
  {
    formats: 'gemini',
    what: '`parameters` and `parametersJsonSchema`',
    reason: 'two places for one schema; JSON Schema against the subset of OpenAPI',
  },
  { formats: 'gemini', what: '`embedContent` and a batch of one', reason: 'two endpoints for one text' },
  { formats: 'openai', what: 'one `input` as a string or a list of one', reason: 'both are documented' },
  {
    formats: 'anthropic, bedrock',
    what: 'markers of the prompt cache',
    reason: 'the operator enables them; they do not change the answer',
  },
]
