/**
 * Phrases by which hosts report two kinds of failure that status and code do not distinguish. Collected in 2026 from the hosts' references,
 * their servers' sources (vLLM, TGI, llama.cpp) and the recordings; each alternative is a phrase of at least one of them.
 */

/** The prompt, or the prompt with the requested output, does not fit the model. */
const contextOverflow = new RegExp(
  [
    // OpenAI, Azure, DeepSeek, OpenRouter, vLLM, Mistral, xAI: "This model's maximum context length is …"
    String.raw`maximum (?:context|prompt|input|model|sequence) (?:length|size)`,
    // OpenAI: "Your input exceeds the context window". MiniMax: "context window exceeds limit". Moonshot: "exceeded model token limit".
    String.raw`(?:exceed\w*|longer than|larger than|beyond)[^.]{0,80}\b(?:context|(?:model |input )?token limit|(?:model|input) limit)`,
    String.raw`(?:context|token)[ _-]?(?:window|length|limit|size)\b[^.]{0,60}(?:exceed|overflow|too (?:long|large))`,
    // Nova: "Number of input tokens exceeds maximum length". Gemini: "exceeds the maximum number of tokens". z.ai: "Prompt exceeds max length".
    String.raw`exceed\w*[^.]{0,40}\bmax(?:imum)? (?:(?:input|prompt|model|sequence) )?(?:length|number of (?:input )?tokens)`,
    // Vertex: "the input token count is 40000 but model only supports up to 32767".
    String.raw`input token count\b[^.]{0,40}\b(?:exceeds|but)`,
    // Anthropic, Bedrock, Fireworks: "prompt is too long". Bedrock: "Input is too long for requested model." llama.cpp: "input is too large".
    String.raw`\b(?:prompt|input|messages?|conversation) (?:is|are) too (?:long|large)`,
    // Cohere: "too many tokens", "cannot exceed 4081 tokens". Bedrock: "Too many input tokens", "too many total text bytes".
    String.raw`too many (?:input |prompt |total )?tokens|too many total text|cannot exceed \d+ (?:input |prompt |total )?tokens`,
    // OpenAI, Groq, Cerebras: "Please reduce the length of the messages", "reduce your message size".
    String.raw`reduce (?:the|your) (?:length|message size|prompt)`,
    // DashScope: "Range of input length should be [1, 30720]", "Total message token length exceed model limit".
    String.raw`range of input length|token length exceed`,
    // TGI: "\`inputs\` tokens + \`max_new_tokens\` must be <= 4096", "\`inputs\` must have less than 3072 tokens".
    String.raw`tokens\b[^.]{0,40}must be (?:<=|less)|must have less than \d+ tokens`,
    // Bedrock's Titan: "expected maxLength: 50000, actual: 90000".
    String.raw`expected maxlength\b[^.]{0,40}actual`,
    // Bedrock's Nova: "Input Tokens Exceeded". Mistral: "too large for model with 32768 maximum context length".
    String.raw`input tokens exceeded|too large for model`,
    // OpenAI and Groq reject a single request above the tokens per minute; it never fits, however long one waits.
    String.raw`request too large`,
    String.raw`context_length|prompt 超长|超过.{0,20}(?:长度|上下文)`,
  ].join('|'),
  'i',
)

/** Only the requested output is above the model's cap; the prompt fits. */
const outputCapOnly = /max(?:imum)?[ _]tokens you requested exceeds/i

export function isContextOverflow(message: string): boolean {
  return contextOverflow.test(message) && !outputCapOnly.test(message)
}

/** The host is at capacity, independent of the caller's limits: another host may serve the call. */
const noCapacity =
  /overloaded|(?:at|over|out of|no|insufficient|available|reached|limited|lack of)\b.{0,20}\bcapacity|capacity (?:is |was )?(?:exceeded|reached|full|unavailable|constraints?)|engine is currently|(?:server|service|model) is (?:too |currently )?busy|high (?:demand|load|traffic)|no healthy upstream|too busy/i

export function isCapacityShortage(message: string): boolean {
  return noCapacity.test(message)
}
