import { expect, test } from 'vitest'
import { createVisits, toProblem } from './visit.ts'

const minutes = 60_000

interface Call {
  path: string
  session?: string
  authorization?: string | undefined
}

/** A server that gives the sessions s1, s2, … and accepts those that `isValid` accepts. */
function createServer(isValid: (session: string) => boolean = () => true) {
  const calls: Call[] = []
  let made = 0
  const storage = new Map<string, string>()
  const clock = { now: 0 }
  const refusal = (code: string) => Response.json({ error: { code } }, { status: 401 })
  const answer = async (url: string, { body, headers }: RequestInit = {}): Promise<Response> => {
    const path = url.slice('/s/help'.length)
    const { session } = JSON.parse(String(body ?? '{}')) as { session?: string }
    const authorization = (headers as Record<string, string> | undefined)?.['authorization']?.slice('Bearer '.length)
    calls.push({ path, ...(session ? { session } : {}), ...(authorization ? { authorization } : {}) })
    if (path === '/session') {
      if (session !== undefined && !isValid(session)) return refusal('invalid_visit')
      return Response.json({ session: `s${++made}`, expiresInSeconds: 900 })
    }
    return isValid(authorization!) ? Response.json({}) : refusal('invalid_visit')
  }
  const open = () =>
    createVisits({
      base: '/s/help',
      embeddedBy: null,
      tab: {
        getItem: (key: string) => storage.get(key) ?? null,
        setItem: (key: string, value: string) => void storage.set(key, value),
      } as unknown as Storage,
      visitorId: 'v',
      fetch: answer as typeof fetch,
      now: () => clock.now,
    })
  return { calls, clock, open }
}

test('renews a session that ends soon before the next call, with the former one', async () => {
  const { calls, clock, open } = createServer()
  const visits = open()
  await visits.send('POST', '/chat')
  clock.now = 11 * minutes
  await visits.send('POST', '/chat')
  clock.now = 13 * minutes
  await visits.send('POST', '/chat')
  expect(calls).toEqual([
    { path: '/session' },
    { path: '/chat', authorization: 's1' },
    { path: '/chat', authorization: 's1' },
    { path: '/session', session: 's1' },
    { path: '/chat', authorization: 's2' },
  ])
})

test('repeats a call once with a new session when the server has ended the former one', async () => {
  const ended = new Set<string>()
  const { calls, open } = createServer((session) => !ended.has(session))
  const visits = open()
  await visits.open()
  ended.add('s1')
  await visits.send('POST', '/chat')
  expect(calls.slice(1)).toEqual([
    { path: '/chat', authorization: 's1' },
    { path: '/session', session: 's1' },
    { path: '/session' },
    { path: '/chat', authorization: 's2' },
  ])
  ended.add('s2').add('s3')
  await expect(visits.send('POST', '/chat')).rejects.toMatchObject({ code: 'invalid_visit' })
})

test('makes one session for calls at the same time, and continues it after a reload of the tab', async () => {
  const { calls, open } = createServer()
  const visits = open()
  await Promise.all([visits.open(), visits.send('POST', '/chat'), visits.send('POST', '/ratings')])
  expect(calls.filter(({ path }) => path === '/session')).toHaveLength(1)
  await open().open()
  expect(calls.at(-1)).toEqual({ path: '/session', session: 's1' })
})

test('names every refusal in the words of a visitor, with the time of the next try', async () => {
  const refuse = async (status: number, code: string, headers = {}) => {
    const answer = async () => Response.json({ error: { code } }, { status, headers })
    const visits = createVisits({
      base: '/s/help',
      embeddedBy: null,
      tab: undefined,
      visitorId: 'v',
      fetch: answer as typeof fetch,
      now: () => 0,
    })
    return visits.open().catch((error: unknown) => toProblem(error, 0))
  }
  expect(await refuse(429, 'rate_limit_exceeded', { 'retry-after': '7' })).toEqual({ kind: 'rate', retryAt: 7_000 })
  expect(await refuse(402, 'insufficient_quota')).toEqual({ kind: 'budget' })
  const untilTomorrow = { 'retry-after': '7200' }
  expect(await refuse(402, 'insufficient_quota', untilTomorrow)).toEqual({ kind: 'budget', retryAt: 7_200_000 })
  expect(await refuse(403, 'site_paused')).toEqual({ kind: 'paused' })
  expect(await refuse(401, 'password_required')).toEqual({ kind: 'password' })
  expect(await refuse(401, 'not_signed_in')).toEqual({ kind: 'members' })
  expect(await refuse(404, 'not_found')).toEqual({ kind: 'closed' })
  expect(await refuse(500, 'internal')).toEqual({ kind: 'failed' })
})
