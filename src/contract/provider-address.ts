import { z } from 'zod'

/** Where a provider is called and with which headers: the same rules for the configuration file and the API. */

/** Without those that the HTTP client sets for the connection and the body: a call with another value fails, or reaches another host. */
export const headerName = z
  .string()
  .regex(
    /^(?!(?:host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive|te|trailer)$)[a-z0-9-]{1,100}$/i,
  )

export const providerAddress = z.url().refine(isHttpWithoutCredentials, {
  error: 'must be an http(s) address without user name and password; keys go into apiKey',
})

/** Also runs where the text is no address. */
function isHttpWithoutCredentials(text: string): boolean {
  const url = URL.parse(text)
  return !url || (url.username === '' && url.password === '' && /^https?:$/.test(url.protocol))
}

/** What the adapters cannot append a path to. Not in the schema, which also reads the declarations that are stored already. */
export function suffixProblem(baseUrl: string, format: string): { error: string } | undefined {
  const url = new URL(baseUrl)
  if (url.href.includes('#')) return { error: 'must have no fragment (#)' }
  const isSent = format === 'openai' || (format === 'azure' && [...url.searchParams.keys()].every(isVersion))
  if (!isSent && url.href.includes('?')) return { error: `must have no query (?) with the format ${format}` }
  return undefined
}

const isVersion = (name: string) => name === 'api-version'
