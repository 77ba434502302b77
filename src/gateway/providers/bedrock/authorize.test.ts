import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { providerCall } from '../../../../test/harness/provider-call.ts'
import type { ProviderSettings } from '../port.ts'
import type { EncodedRequest } from '../wire-adapter.ts'
import { createBedrockAdapter, createBedrockAdapterWith } from './index.ts'

const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const settings: ProviderSettings = {
  id: 'aws',
  format: 'bedrock',
  region: 'eu-central-1',
  credentials: `AKIDEXAMPLE:${secretAccessKey}`,
}
const now = () => new Date('2026-11-21T02:03:04.567Z')
const signal = new AbortController().signal
const request = (model: string, content = 'Grüße 👋') => {
  const call = providerCall({ messages: [{ role: 'user', content }] }, { id: model })
  const wire = createBedrockAdapter(settings).toRequest(call, { stream: false })
  return { ...wire, body: JSON.stringify(wire.body) }
}

/** Signature Version 4 implemented from its specification, independent of the library under test. */
function signatureByHand(wire: EncodedRequest & { body: string }, headers: Record<string, string>): string {
  const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8').digest()
  const url = new URL(wire.url)
  // Every service but S3 escapes the path twice.
  const path = url.pathname.split('/').map(encodeURIComponent).join('/')
  const signed: Record<string, string> = { ...headers, host: url.host }
  if (wire.headers['content-type']) signed['content-type'] = wire.headers['content-type']
  delete signed.authorization
  const names = Object.keys(signed).sort()
  const canonical = [
    wire.method,
    path,
    '',
    ...names.map((name) => `${name}:${signed[name]!.trim()}`),
    '',
    names.join(';'),
    sha256(wire.body),
  ].join('\n')
  const scope = '20261121/eu-central-1/bedrock/aws4_request'
  const toSign = ['AWS4-HMAC-SHA256', '20261121T020304Z', scope, sha256(canonical)].join('\n')
  const key = scope
    .split('/')
    .reduce<string | Buffer>((previous, part) => hmac(previous, part), `AWS4${secretAccessKey}`)
  const signature = hmac(key, toSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
}

describe('a signature for Bedrock', () => {
  test.each(['amazon.nova-lite-v1:0', 'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.x-v1:0'])(
    'equals the signature of the SigV4 specification for %s',
    async (model) => {
      const wire = request(model)
      const headers = await createBedrockAdapterWith(settings, { now }).authorize(wire, signal)
      expect(headers['x-amz-date']).toBe('20261121T020304Z')
      expect(headers.authorization).toBe(signatureByHand(wire, headers))
    },
  )

  test('covers the body, and the listing of models too', async () => {
    const adapter = createBedrockAdapterWith(settings, { now })
    const one = await adapter.authorize(request('m', 'one'), signal)
    const two = await adapter.authorize(request('m', 'two'), signal)
    expect(one.authorization).not.toBe(two.authorization)
    const list = { method: 'GET' as const, url: adapter.models!.url, headers: {}, body: '' }
    const headers = await adapter.authorize(list, signal)
    expect(headers.authorization).toBe(signatureByHand(list, headers))
  })

  test('contains the session token of temporary credentials, configured or loaded', async () => {
    const set = createBedrockAdapterWith({ ...settings, credentials: `${settings.credentials}:session` }, { now })
    expect(await set.authorize(request('m'), signal)).toHaveProperty('x-amz-security-token', 'session')
    const loadCredentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey, sessionToken: 'loaded' })
    const { credentials: _, ...rest } = settings
    const headers = await createBedrockAdapterWith(rest, { now, loadCredentials }).authorize(request('m'), signal)
    expect(headers['x-amz-security-token']).toBe('loaded')
    expect(headers.authorization).toBe(signatureByHand(request('m'), headers))
  })

  test('that cannot be created is an authentication error without details of the machine', async () => {
    const { credentials: _, ...rest } = settings
    const loadCredentials = () => Promise.reject(new Error('no profile in /root/.aws/credentials'))
    await expect(
      createBedrockAdapterWith(rest, { loadCredentials }).authorize(request('m'), signal),
    ).rejects.toMatchObject({ errorClass: 'authentication', message: expect.not.stringContaining('/root') })
  })

  test('is replaced by a Bedrock API key, which is sent as a bearer token', async () => {
    const adapter = createBedrockAdapter({ ...settings, apiKey: 'ABSKsecretOfTheTest' })
    expect(await adapter.authorize(request('m'), signal)).toEqual({ authorization: 'Bearer ABSKsecretOfTheTest' })
  })

  test('requires credentials in the documented form', () => {
    expect(() => createBedrockAdapter({ ...settings, credentials: 'AKIDEXAMPLE' })).toThrow(
      /accessKeyId:secretAccessKey/,
    )
  })
})
