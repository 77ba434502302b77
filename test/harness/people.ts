import { type ApiAnswer, type ApiClient, expectStatus, type TestPortico } from './portico.ts'

export const testPassword = 'correct horse battery staple'

/** Calls with a cookie instead of a key, as a page of the console does. */
export interface Browser {
  call: ApiClient
  /** `name=value` pairs of the cookies. */
  cookie(): string
}

/** A browser that sends its cookies and, on changes, the origin of the server. */
export function openBrowser(url: string): Browser {
  const cookies = new Map<string, string>()
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    cookie,
    async call(method, target, body, headers = {}): Promise<ApiAnswer> {
      const isForm = body instanceof FormData
      const response = await fetch(url + target, {
        method,
        redirect: 'manual',
        headers: {
          ...(cookies.size > 0 ? { cookie: cookie() } : {}),
          ...(method === 'GET' ? {} : { origin: new URL(url).origin }),
          ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      })
      for (const set of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = set.split('; ')
        const name = pair.slice(0, pair.indexOf('='))
        if (attributes.some((attribute) => /^max-age=0$/i.test(attribute))) cookies.delete(name)
        else cookies.set(name, pair.slice(name.length + 1))
      }
      const text = await response.text()
      // Not `application/jsonl`.
      const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
  }
}

/** Signs in; the answer must have the status 200. */
export async function signIn(url: string, email: string, password = testPassword): Promise<Browser> {
  const browser = openBrowser(url)
  expectStatus(await browser.call('POST', '/api/auth/sign-in/email', { email, password }), 200)
  return browser
}

/** Creates a person through an invitation and signs in. Without an organisation the person is an operator. */
export async function createPerson(
  { url, operator }: Pick<TestPortico, 'url' | 'operator'>,
  { email, organisationId, role = 'member' }: { email: string; organisationId?: string; role?: string },
): Promise<Browser> {
  const invited =
    organisationId === undefined
      ? await operator('POST', '/api/operator-invitations', { email })
      : await operator('POST', `/api/organisations/${organisationId}/invitations`, { email, role })
  const { token } = expectStatus(invited, 201)
  const account = { name: email.split('@')[0], password: testPassword }
  expectStatus(await openBrowser(url).call('POST', `/api/invitations/${token}/accept`, account), 200)
  const browser = await signIn(url, email)
  if (organisationId === undefined) {
    const { id } = (await browser.call('GET', '/api/me')).body.person
    expectStatus(await operator('PATCH', `/api/people/${id}`, { isOperator: true, acceptUnverifiedEmail: true }), 200)
  }
  return browser
}
