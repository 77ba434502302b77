/**
 * Dimensions of embedding models for which the price lists state none, by their names. Each is the default that the documentation of the provider or
 * the card of the model states. The first rule counts.
 */
const rules: readonly [name: RegExp, dimensions: number][] = [
  // https://docs.mistral.ai/capabilities/embeddings
  [/^mistral-embed\b/, 1024],
  [/^codestral-embed\b/, 1536],
  // https://docs.cohere.com/docs/cohere-embed
  [/^(cohere\.)?embed-(english|multilingual)-v3/, 1024],
  // https://platform.openai.com/docs/guides/embeddings
  [/^text-embedding-3-large\b/, 3072],
  [/^text-embedding-ada-002\b/, 1536],
  // Models of https://ollama.com/search?c=embedding, which lists no dimensions.
  [/^(nomic-embed-text|embeddinggemma|paraphrase-multilingual|granite-embedding:278m)\b/, 768],
  [/^(mxbai-embed-large|bge-m3|bge-large|snowflake-arctic-embed2|qwen3-embedding:0\.6b)\b/, 1024],
  [/^(all-minilm|granite-embedding)\b/, 384],
]

/** null: not known. */
export function knownDimensions(model: string): number | null {
  return rules.find(([name]) => name.test(model))?.[1] ?? null
}
