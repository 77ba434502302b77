import { expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createSecretBox } from '../../platform/kernel/index.ts'
import type { OpenSite } from './sites.ts'
import { createVisitSessions } from './visit-sessions.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const documentId = '0196e0a0-0000-7000-8000-000000000001'
const visitor = { visitorId: 'a-visitor', embeddedBy: null, personId: null }

const siteOf = (spaceId: string, generation: number) =>
  ({ site: { spaceId, generation, paused: false } }) as unknown as OpenSite

function setUp() {
  const clock = createFakeClock()
  const found = { current: siteOf('a-space', 1) }
  const secretBox = createSecretBox(Buffer.alloc(32, 7))
  const sessions = createVisitSessions({ secretBox, sites: { find: () => found.current }, clock })
  const enter = (session: string) => sessions.authenticate('a-name', `Bearer ${session}`).session
  return { clock, found, sessions, enter }
}

test('a session is refused a quarter of an hour and one minute after it was made', async () => {
  const { clock, found, sessions, enter } = setUp()
  const { session, expiresInSeconds } = sessions.mint(found.current, visitor)
  expect(expiresInSeconds).toBe(900)
  await clock.advance(16 * minuteMs)
  expect(enter(session)).toMatchObject(visitor)
  await clock.advance(1)
  expect(() => enter(session)).toThrow(expect.objectContaining({ code: 'invalid_visit' }))
})

test('an expired session is renewed for its visitor and website, for twelve hours from its beginning', async () => {
  const { clock, found, sessions, enter } = setUp()
  const first = sessions.mint(found.current, visitor)
  await clock.advance(11 * hourMs + 59 * minuteMs)
  expect(sessions.renewable(found.current, first.session, 'another', null)).toBeUndefined()
  expect(sessions.renewable(found.current, first.session, visitor.visitorId, 'https://a.example')).toBeUndefined()
  const before = sessions.renewable(found.current, first.session, visitor.visitorId, null)!
  const renewed = sessions.mint(found.current, visitor, before)
  expect(renewed.expiresInSeconds).toBe(60)
  expect(enter(renewed.session)).toMatchObject(visitor)
  await clock.advance(minuteMs)
  for (const { session } of [first, renewed])
    expect(sessions.renewable(found.current, session, visitor.visitorId, null)).toBeUndefined()
})

test.each([
  ['a later generation', siteOf('a-space', 2)],
  ['an earlier generation', siteOf('a-space', 0)],
  ['another Space', siteOf('b-space', 1)],
])('a session is neither taken nor renewed for %s', (_, other) => {
  const { found, sessions, enter } = setUp()
  const { session } = sessions.mint(found.current, visitor)
  found.current = other
  expect(() => enter(session)).toThrow(expect.objectContaining({ code: 'invalid_visit' }))
  expect(sessions.renewable(other, session, visitor.visitorId, null)).toBeUndefined()
})

test('a ticket opens its document for its visitor in its Space for thirty days, and is no session', async () => {
  const { clock, found, sessions, enter } = setUp()
  const mine = enter(sessions.mint(found.current, visitor).session)
  const ticket = sessions.ticket(mine, documentId)
  expect(sessions.isTicket(ticket, mine, documentId.toUpperCase())).toBe(true)
  expect(sessions.isTicket(ticket, mine, documentId.replace(/1$/, '2'))).toBe(false)
  expect(sessions.isTicket(ticket, { ...mine, visitorId: 'another' }, documentId)).toBe(false)
  expect(sessions.isTicket(ticket, { ...mine, spaceId: 'b-space' }, documentId)).toBe(false)
  expect(() => enter(`ptv_${ticket}`)).toThrow(expect.objectContaining({ code: 'invalid_visit' }))
  await clock.advance(30 * 24 * hourMs + 2 * minuteMs)
  expect(sessions.isTicket(ticket, mine, documentId)).toBe(false)
})
