export interface SnippetValues {
  baseUrl: string
  apiKey: string
  model: string
}

export interface Snippet {
  label: string
  code: string
}

/** A JSON text is also a literal of TypeScript and of Python. */
export const quoted = (text: string) => JSON.stringify(text)

export const forShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
