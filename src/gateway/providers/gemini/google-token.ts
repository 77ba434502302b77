import { type EndSignal, raceSignal, userAgent, invalidField } from '../../../platform/kernel/index.ts'
import type { ProviderSettings } from '../port.ts'
import { failure } from '../wire-failure.ts'
import { asCount, asObject, asString, parseJsonObject } from '../wire-json.ts'

const scopes = ['https://www.googleapis.com/auth/cloud-platform']

/** A current access token for Google Cloud; does I/O if there is none or it is about to expire. */
export type LoadGoogleToken = (signal: EndSignal) => Promise<string>

/**
 * Tokens of the service account in `settings.credentials`, else of the application default credentials (environment, gcloud, metadata
 * server). The library caches a token and renews it in time. `fetch` is for tests. Throws AppError if `credentials` is not a service
 * account: other kinds may contain commands to run or addresses to call.
 */
export function createGoogleTokenLoader(
  settings: ProviderSettings,
  options: { fetch?: typeof fetch } = {},
): LoadGoogleToken {
  const account = settings.credentials === undefined ? undefined : readServiceAccount(settings.credentials)
  let client: Promise<{ getAccessToken(): Promise<{ token?: string | null }> }> | undefined

  async function createClient() {
    // Loaded on first use: providers other than Google must not slow down the start.
    const { GoogleAuth, JWT } = await import('google-auth-library')
    const headers = { 'user-agent': userAgent }
    const transporterOptions = { headers, ...(options.fetch && { fetchImplementation: options.fetch }) }
    if (account) return new JWT({ ...account, scopes, transporterOptions })
    return new GoogleAuth({ scopes, clientOptions: { transporterOptions } }).getClient()
  }

  async function load(): Promise<string> {
    client ??= createClient()
    try {
      const { token } = await (await client).getAccessToken()
      if (token) return token
    } catch (cause) {
      // After a failure (no credentials on this machine yet) the next call tries again.
      client = undefined
      throw tokenFailure(cause)
    }
    throw failure('authentication', 'Google gave no access token.')
  }

  return (signal) => raceSignal(load(), signal)
}

function readServiceAccount(credentials: string): { email: string; key: string; keyId?: string } {
  const account = parseJsonObject(credentials)
  const email = asString(account?.client_email)
  const key = asString(account?.private_key)
  if (account?.type !== 'service_account' || email === '' || key === '') {
    throw invalidField('credentials', 'The credentials of Vertex AI must be the JSON key of a service account.')
  }
  const keyId = asString(account.private_key_id)
  return keyId === '' ? { email, key } : { email, key, keyId }
}

/**
 * Refused credentials are a configuration error; a missing answer may succeed later. The messages may quote keys, so they are kept in the
 * cause.
 */
function tokenFailure(cause: unknown) {
  const status = asCount(asObject(asObject(cause).response).status)
  const refused = status === undefined ? !isNetworkFailure(cause) : status < 500 && status !== 429
  return refused
    ? failure('authentication', 'The Google credentials of this provider could not be used.', {
        cause,
        status: status ?? null,
      })
    : failure('connection', 'The access token for Google could not be fetched.', { cause, status: status ?? null })
}

function isNetworkFailure(cause: unknown): boolean {
  const { code, cause: inner } = asObject(cause)
  return /^(E[A-Z]+|UND_ERR_\w+)$/.test(asString(code) || asString(asObject(inner).code))
}
