/**
 * The wire formats of providers, listed once. The schemas of configuration and API, the adapters, the command line and the test of
 * docs/operate/providers.md derive from this list; docs/understand/adding-a-wire-format.md describes how to extend it.
 */
export const providerFormats = [
  'openai',
  'azure',
  'anthropic',
  'gemini',
  'vertex',
  'bedrock',
  'cohere',
  'ollama',
] as const

export type ProviderFormat = (typeof providerFormats)[number]
