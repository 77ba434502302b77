import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSecretBox } from '../../src/platform/kernel/index.ts'
import { addModel } from '../harness/added-model.ts'
import { type DatabasePlace, freshDatabasePlace } from '../harness/database.ts'
import { type Browser, createPerson, openBrowser, testPassword } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { codeOf } from '../harness/second-factor.ts'
import { chatAnswer } from '../upstream/replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** The secret key of an installation is replaced, with one start after the other as docs/operate/secrets.md describes it. */

const formerKey = 'the former secret key of this test, long enough'
const newKey = 'the new secret key of this test, also long enough'
const providerKey = 'sk-provider-key-0123456789abcdefghij'
const email = 'two@example.org'
const messages = [{ role: 'user', content: 'hello' }]

let place: DatabasePlace
let upstream: Upstream
let organisation: TestOrganisation
let certificate: unknown
let webhookSecret: string
let factor: { secret: string; backupCodes: string[] }
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  place = await freshDatabasePlace()
  upstream = await startUpstream(() => chatAnswer('hi'))
})
afterAll(async () => {
  for (const stop of stops) await stop()
  await upstream.close()
  await place.remove()
})

async function start(key: string, second?: string): Promise<TestPortico> {
  for (const stop of stops.splice(0)) await stop()
  return startAnother(key, second)
}

/** Next to the one that runs. */
async function startAnother(key: string, second?: string): Promise<TestPortico> {
  const environment = {
    PORTICO_SECRET_KEY: key,
    ...(second === undefined ? {} : { PORTICO_SECOND_SECRET_KEY: second }),
  }
  const portico = await startPortico({ place, environment })
  stops.push(portico.stop)
  return portico
}

async function prepare(portico: TestPortico): Promise<void> {
  const { operator } = portico
  await addModel(operator, { model: 'm', provider: 'sealed', baseUrl: `${upstream.url}/v1`, apiKey: providerKey })
  organisation = await portico.createOrganisation()
  const path = `/api/organisations/${organisation.id}`
  webhookSecret = expectStatus(
    await operator('PUT', `${path}/webhook`, { url: 'https://hooks.example.org/' }),
    200,
  ).secret
  factor = await enableSecondFactor(await createPerson(portico, { email }))
  const accepted = await operator('POST', `${path}/erasures`, { user: 'visitor-1' })
  certificate = await certificateOf(portico, expectStatus(accepted, 202).id)
}

async function enableSecondFactor(person: Browser) {
  const given = { password: testPassword }
  const { totpURI, backupCodes } = expectStatus(await person.call('POST', '/api/auth/two-factor/enable', given), 200)
  const secret = new URL(totpURI).searchParams.get('secret')!
  expectStatus(await person.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(secret) }), 200)
  return { secret, backupCodes }
}

async function certificateOf({ operator }: TestPortico, id: string): Promise<unknown> {
  const load = async () =>
    expectStatus(await operator('GET', `/api/organisations/${organisation.id}/erasures/${id}`), 200)
  await expect.poll(async () => (await load()).state, { timeout: 60_000, interval: 200 }).toBe('completed')
  return (await load()).certificate
}

/** All that is encrypted can be used. */
async function expectUsable(portico: TestPortico): Promise<void> {
  const { key } = expectStatus(await portico.operator('POST', `/api/organisations/${organisation.id}/api-key`), 201)
  const answer = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages }),
  })
  expect(answer.status).toBe(200)
  expect(upstream.requests.at(-1)!.headers['authorization']).toBe(`Bearer ${providerKey}`)
  const { genuine } = expectStatus(await portico.operator('POST', '/api/erasures/verify', { certificate }), 200)
  expect(genuine).toBe(true)
  for (const proof of [
    { path: 'verify-totp', code: codeOf(factor.secret) },
    { path: 'verify-backup-code', code: factor.backupCodes.pop() },
  ]) {
    const browser = openBrowser(portico.url)
    // Otherwise a code is accepted once.
    await portico.service.control.execute(`DELETE FROM people_attempts`)
    expectStatus(await browser.call('POST', '/api/auth/sign-in/email', { email, password: testPassword }), 200)
    expectStatus(await browser.call('POST', `/api/auth/two-factor/${proof.path}`, { code: proof.code }), 200)
    expect((await browser.call('GET', '/api/me')).status).toBe(200)
  }
  expect(await openWebhookSecret(portico, [formerKey, newKey])).toBe(webhookSecret)
}

async function openWebhookSecret({ service }: TestPortico, [key, second]: string[]): Promise<string> {
  const [row] = await service.control.query<{ sealed: string }>(
    `SELECT webhook_secret_sealed AS sealed FROM organisations WHERE id = $1`,
    [organisation.id],
  )
  return createSecretBox(key!, second).open(row!.sealed, `webhook:${organisation.id}`)
}

const reencrypt = async ({ operator }: TestPortico) =>
  expectStatus(await operator('POST', '/api/secret-key/reencrypt'), 200)

describe('the secret key is replaced', () => {
  it('first every instance gets the new key as the second one, and everything works as before', async () => {
    await prepare(await start(formerKey))
    const portico = await start(formerKey, newKey)
    await expectUsable(portico)
    expect(await reencrypt(portico)).toMatchObject({ reencrypted: 0, unreadable: 0 })
  })

  it('then the keys change places: what either encrypted is read', async () => {
    const portico = await start(newKey, formerKey)
    await expectUsable(portico)
    const { secret } = expectStatus(
      await portico.operator('PUT', `/api/organisations/${organisation.id}/webhook`, {
        url: 'https://hooks.example.org/',
      }),
      200,
    )
    webhookSecret = secret
    await expectUsable(portico)
    // An instance that was not replaced yet reads what this one has encrypted. Only a server can have two instances.
    if (place.databaseUrl !== undefined) await expectUsable(await startAnother(formerKey, newKey))
  })

  it('then everything is encrypted again, by two at the same time and repeatedly, each value once', async () => {
    const portico = await start(newKey, formerKey)
    const answers = await Promise.all([reencrypt(portico), reencrypt(portico)])
    const total = answers.reduce((sum, { reencrypted }) => sum + reencrypted, 0)
    // The provider and the key of erasures. The webhook was set under the new key. A sign-in has renewed the second factor: under the former key where an
    // instance with the former key was the last one.
    expect(total).toBe(place.databaseUrl === undefined ? 2 : 4)
    for (const { unreadable } of answers) expect(unreadable).toBe(0)
    expect(await reencrypt(portico)).toEqual({
      reencrypted: 0,
      unchanged: 5,
      unreadable: 0,
      kinds: {
        providers: { reencrypted: 0, unchanged: 1, unreadable: 0 },
        webhooks: { reencrypted: 0, unchanged: 1, unreadable: 0 },
        erasures: { reencrypted: 0, unchanged: 0, unreadable: 0 },
        spaceTools: { reencrypted: 0, unchanged: 0, unreadable: 0 },
        secondFactors: { reencrypted: 0, unchanged: 2, unreadable: 0 },
        singleSignOn: { reencrypted: 0, unchanged: 0, unreadable: 0 },
        installationKeys: { reencrypted: 0, unchanged: 1, unreadable: 0 },
      },
    })
  })

  it('then the former key is not needed any more, and opens nothing', async () => {
    await expectUsable(await start(newKey))
    const portico = await start(formerKey)
    const { unchanged, unreadable } = await reencrypt(portico)
    expect({ unchanged, unreadable }).toEqual({ unchanged: 0, unreadable: 5 })
    const { genuine } = expectStatus(await portico.operator('POST', '/api/erasures/verify', { certificate }), 200)
    // Derived from the former key again: it was the key of the installation when the certificate was made.
    expect(genuine).toBe(true)
  })

  it('both keys must differ and have 32 bytes', async () => {
    await expect(startAnother(newKey, newKey)).rejects.toThrow('PORTICO_SECOND_SECRET_KEY must be another key')
    await expect(startAnother(newKey, 'short')).rejects.toThrow('PORTICO_SECOND_SECRET_KEY must have at least 32 bytes')
  })
})
