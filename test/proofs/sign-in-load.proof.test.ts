import { describe, expect, it } from 'vitest'
import { freshDatabasePlace } from '../harness/database.ts'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import { createPerson, openBrowser, signIn, testPassword } from '../harness/people.ts'
import { startSeparatePortico } from '../harness/portico.ts'

/** More sign-ins at once than may wait for a password check. */
const flood = 130
/** The longest body of the sign-in endpoints, in bytes; the password has at most 200 characters of it. */
const longestBody = 16 * 1024

describe('a flood of sign-ins', () => {
  it('with the longest passwords and bodies never delays /livez, and further ones are refused', async () => {
    await using portico = await startSeparatePortico()
    await createPerson(portico, { email: 'real@example.org' })
    const longest = 'ä'.repeat(200)
    const body = (password: string, index: number) => {
      const given = { email: `flood-${index}@example.org`, password, filler: '' }
      return { ...given, filler: 'x'.repeat(longestBody - Buffer.byteLength(JSON.stringify(given))) }
    }
    const browser = openBrowser(portico.url)
    const statuses = await expectResponsive(portico, async (attempt) => {
      const answers = await Promise.all(
        Array.from({ length: flood }, (_, index) => {
          const given = body(index % 2 === 0 ? longest : 'y'.repeat(16_000), attempt * flood + index)
          return browser.call('POST', '/api/auth/sign-in/email', given)
        }),
      )
      return new Set(answers.map(({ status }) => status))
    })
    // Wrong, too long, too many at once (503), too many of one address (429); never an error of the server.
    for (const status of statuses) expect([400, 401, 413, 429, 503]).toContain(status)
    expect(statuses.has(401)).toBe(true)
    expect(statuses.has(503)).toBe(true)
  }, 240_000)
})

describe('an acceptance of an invitation that kill -9 interrupts', () => {
  it('has happened completely or not at all, and the link or the account works after the restart', async () => {
    const place = await freshDatabasePlace()
    const outcomes = new Set<string>()
    let portico = await startSeparatePortico({ place })
    try {
      const invitations = `/api/organisations/${(await portico.createOrganisation()).id}/invitations`
      // The hash of the password takes some 50 ms: the kill is before, in or after the transaction.
      for (const waitMs of [0, 60, 120]) {
        const email = `killed-${waitMs}@example.org`
        const { token } = (await portico.operator('POST', invitations, { email, role: 'member' })).body
        const account = { name: 'Killed', password: testPassword }
        const accepting = openBrowser(portico.url)
          .call('POST', `/api/invitations/${token}/accept`, account)
          .catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        process.kill(portico.pid, 'SIGKILL')
        const answered = (await accepting)?.status
        await portico.stop()
        portico = await startSeparatePortico({ place })
        const { items } = (await portico.operator('GET', `/api/people?search=${email}`)).body
        const again = await openBrowser(portico.url).call('POST', `/api/invitations/${token}/accept`, account)
        outcomes.add(items.length === 0 ? 'not at all' : 'completely')
        expect(again.status).toBe(items.length === 0 ? 200 : 404)
        if (answered === 200) expect(items).toHaveLength(1)
        const browser = await signIn(portico.url, email)
        expect((await browser.call('GET', '/api/me')).body.organisations).toHaveLength(1)
      }
    } finally {
      await portico.stop()
      await place.remove()
    }
    expect(outcomes).toContain('not at all')
  }, 300_000)
})
