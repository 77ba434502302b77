import { createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ProviderError, ProviderSettings } from '../port.ts'
import { createGoogleTokenLoader } from './google-token.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  type: 'service_account',
  project_id: 'p',
  private_key_id: 'k1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: 'portico@p.iam.gserviceaccount.com',
}
const settings: ProviderSettings = { id: 'v', format: 'vertex', credentials: JSON.stringify(account) }
const signal = new AbortController().signal

/** A token endpoint that answers with `status` and records requests. */
function tokenEndpoint(status: number, body: unknown) {
  const sent: string[] = []
  const agents: (string | null)[] = []
  const answer = (async (_input: unknown, init?: RequestInit) => {
    sent.push(String(init?.body))
    agents.push(new Headers(init?.headers).get('user-agent'))
    return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  }) as typeof fetch
  return { sent, agents, fetch: answer }
}

describe('tokens of Google', () => {
  test('are requested once with an assertion signed by the service account, then cached', async () => {
    const endpoint = tokenEndpoint(200, { access_token: 'ya29.t', expires_in: 3600, token_type: 'Bearer' })
    const load = createGoogleTokenLoader(settings, { fetch: endpoint.fetch })
    expect(await load(signal)).toBe('ya29.t')
    expect(await load(signal)).toBe('ya29.t')
    expect(endpoint.sent).toHaveLength(1)
    expect(endpoint.agents[0]).toMatch(/^portico\/\d/)
    const [head, claims, signature] = (new URLSearchParams(endpoint.sent[0]).get('assertion') ?? '').split('.')
    const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`)
    expect(verifier.verify(publicKey, Buffer.from(signature!, 'base64url'))).toBe(true)
    expect(JSON.parse(Buffer.from(claims!, 'base64url').toString())).toMatchObject({
      iss: account.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    })
  })

  test('that are refused are an authentication error without parts of the key', async () => {
    const endpoint = tokenEndpoint(400, { error: 'invalid_grant', error_description: account.client_email })
    const error = (await createGoogleTokenLoader(settings, { fetch: endpoint.fetch })(signal).catch(
      (reason: unknown) => reason,
    )) as ProviderError
    expect(error).toMatchObject({ errorClass: 'authentication', retryable: false })
    expect(error.message).not.toMatch(/PRIVATE|gserviceaccount/)
  })

  test('are not awaited once the call is cancelled', async () => {
    const never = (() => new Promise(() => {})) as typeof fetch
    const controller = new AbortController()
    const waiting = createGoogleTokenLoader(settings, { fetch: never })(controller.signal)
    controller.abort(new Error('client left'))
    await expect(waiting).rejects.toThrow('client left')
  })

  test('are created for service accounts only: other kinds may name commands or addresses', () => {
    const credentials = JSON.stringify({ type: 'external_account', credential_source: { url: 'http://evil' } })
    expect(() => createGoogleTokenLoader({ ...settings, credentials })).toThrow(/service account/)
  })
})
