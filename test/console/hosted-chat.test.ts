import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { BrowserContextOptions, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPerson } from '../harness/people.ts'
import { expectStatus } from '../harness/portico.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fillSignIn,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'
import { type Seed, seed } from './harness/seed.ts'

/** The share page of a published Space, and its button on a website of another origin. */

let stage: TestConsole
let seeded: Seed
let shop: Website
let stranger: Website
const narrow = { viewport: { width: 390, height: 844 } }
const question = 'How many days of paid leave are there?'
/** The sentence before the first marker of the answer. */
const quote = 'Every employee has 30 days of paid leave per year.'

interface Website {
  origin: string
  close(): Promise<unknown>
}

/** A website with the strictest policy that docs/use/hosted-chat.md states, which includes the script twice. */
async function startWebsite(): Promise<Website> {
  const server = createServer((_request, response) => {
    const { url } = stage.portico
    const script = `<script src="${url}/widget.js" data-space="${publicId}" data-colour="#b5532a"></script>`
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.setHeader('content-security-policy', `default-src 'none'; script-src ${url}; frame-src ${url}`)
    response.end(`<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width">
      <title>A shop</title></head><body><main><h1>A shop</h1><p id="text">Lamps and chairs.</p>${script}${script}</main></body></html>`)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(resolve)),
  }
}

let publicId = ''
let generation = 0

/** Changes the settings of the chat; what is not named has the values of a usual chat. */
async function changeSite(change: Record<string, unknown> = {}): Promise<void> {
  const body = {
    enabled: true,
    name: 'acme-handbook',
    title: 'Acme Handbook',
    greeting: 'Hello! What would you like to know?',
    suggestions: [question, 'When is the canteen open?'],
    allowedOrigins: [shop.origin],
    dailyCapUsd: '20',
    limits: { visitorPerMinute: 1_000, addressPerMinute: 1_000, spacePerMinute: 1_000 },
    ...change,
  }
  const answer = await stage.portico.operator('PUT', `/api/spaces/${seeded.space.id}/site`, body, {
    'if-match': `"${generation}"`,
  })
  const { site } = expectStatus(answer, 200)
  publicId = site.publicId
  generation = site.generation
}

async function pause(action: 'pause' | 'resume'): Promise<void> {
  const answer = await stage.portico.operator('POST', `/api/spaces/${seeded.space.id}/site/${action}`)
  generation = expectStatus(answer, 200).site.generation
}

async function openSharePage(options?: BrowserContextOptions): Promise<Page> {
  const { page } = await stage.openWindow(options)
  await page.goto(`${stage.portico.url}/s/acme-handbook`)
  return page
}

/** A window of which requests to the website are no problem. */
async function openWebsite({ origin }: Website, options?: BrowserContextOptions) {
  const { page } = await stage.openWindow(options)
  await page.goto(origin)
  return page
}

async function ask(place: Page | FrameLocator, text: string): Promise<void> {
  await place.getByRole('textbox', { name: 'Ask a question' }).fill(text)
  await place.getByRole('textbox', { name: 'Ask a question' }).press('Enter')
}

const problems = () =>
  stage.problems.filter((problem) => !problem.includes(shop.origin) && !problem.includes(stranger.origin))

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  seeded = await seed(stage.portico)
  shop = await startWebsite()
  stranger = await startWebsite()
  await changeSite()
})
afterAll(async () => {
  await shop?.close()
  await stranger?.close()
  await stage?.stop()
})

describe.skipIf(!hasBrowser)(`the share page${skipReason}`, () => {
  it('answers with a marker that opens the quote, and keeps the conversation over a reload', async () => {
    const page = await openSharePage()
    await page.getByRole('button', { name: question }).click()
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
    await page
      .getByRole('button', { name: /^Source \d: handbook.pdf/ })
      .first()
      .click()
    const popover = page.getByRole('dialog')
    expect(await popover.locator('blockquote').allInnerTexts()).toEqual([quote])
    expect(await popover.innerText()).toContain('Page 2')
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.reload()
    await page.getByRole('button', { name: new RegExp(`^${question.slice(0, 20)}.*\\d`, 's') }).click()
    await page.getByRole('heading', { name: question }).waitFor()
    await page
      .getByRole('button', { name: /^Source \d: handbook.pdf/ })
      .first()
      .waitFor()
    expect(await page.context().cookies()).toEqual([])
    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No conversations yet').waitFor()
    expect(problems()).toEqual([])
  })

  it('is used with the keyboard alone', async () => {
    const page = await openSharePage()
    const field = page.getByRole('textbox', { name: 'Ask a question' })
    await field.waitFor()
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.type(question)
    await page.keyboard.press('Enter')
    const chip = page.getByRole('button', { name: /^Source \d: handbook.pdf/ }).first()
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
    for (let presses = 0; presses < 40; presses++) {
      if (await chip.evaluate((element) => element === document.activeElement)) break
      await page.keyboard.press('Shift+Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(await chip.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  it('reads finished sentences to screen readers, each once', async () => {
    const page = await openSharePage()
    await ask(page, question)
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
    const said = await page.locator('[aria-live=polite] p').allInnerTexts()
    expect(said.at(-1)).toMatch(/^Answer complete/)
    expect(said.join(' ').split('30 days').length).toBe(2)
    expect(said.join(' ')).not.toMatch(/\[\d\]/)
  })

  it.each([
    { name: 'English, light', options: { ...narrow } },
    { name: 'Arabic, dark', options: { ...narrow, locale: 'ar', colorScheme: 'dark' } },
    { name: 'German, wide', options: { locale: 'de-DE', viewport: { width: 1440, height: 900 } } },
  ] as const)('fits its window and is accessible: $name', async ({ options }) => {
    const page = await openSharePage(options)
    await page.getByRole('button', { name: question }).click()
    await page
      .getByRole('button', { name: /\d: handbook.pdf/ })
      .first()
      .waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    const direction = 'locale' in options && options.locale === 'ar' ? 'rtl' : 'ltr'
    expect(await page.evaluate(() => document.documentElement.dir)).toBe(direction)
    expect(problems()).toEqual([])
  })

  it('rates an answer with a reason where answers are stored, and takes over what another tab has changed', async () => {
    const space = `/api/spaces/${seeded.space.id}`
    const keep = (keepConversations: boolean) =>
      stage.portico.operator('PATCH', space, { settings: { keepConversations } })
    expectStatus(await keep(true), 200)
    const page = await openSharePage()
    await page.getByText(/Questions and answers are stored for \d+ days\./).waitFor()
    await ask(page, question)
    await page.getByRole('button', { name: 'Not helpful' }).click()
    await page.getByRole('textbox', { name: 'What was wrong? (optional)' }).fill('Which year?')
    const [rated] = await Promise.all([
      page.waitForResponse((answer) => answer.request().postData()?.includes('Which year?') === true),
      page.getByRole('button', { name: 'Send feedback' }).click(),
    ])
    expect(rated.status()).toBe(204)
    await expectAccessible(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await ask(other, 'When is the canteen open?')
    await page
      .getByRole('button', { name: /^When is the canteen open\?/ })
      .first()
      .waitFor()
    expectStatus(await keep(false), 200)
  })

  it('renews its session without a word', async () => {
    const { page } = await stage.openWindow()
    const minted: boolean[] = []
    await page.route('**/s/acme-handbook/session', async (route) => {
      minted.push('session' in route.request().postDataJSON())
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), expiresInSeconds: 60 } })
    })
    await page.goto(`${stage.portico.url}/s/acme-handbook`)
    await ask(page, question)
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
    expect(minted).toEqual([false, true])
    // A changed setting ends all sessions.
    await changeSite({ greeting: 'Good day!' })
    await ask(page, 'When is the canteen open?')
    await page.getByRole('button', { name: 'Copy answer' }).nth(1).waitFor()
    expect(minted.length).toBeGreaterThan(2)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('solves the puzzle of the server before its first session', async () => {
    await changeSite({ proofOfWork: 'always' })
    const page = await openSharePage()
    const solved = page.waitForRequest(
      (request) => request.url().endsWith('/session') && 'proof' in request.postDataJSON(),
    )
    await solved
    await page.getByRole('button', { name: question }).waitFor()
    await changeSite()
    expect(problems()).toEqual([])
  })
})

describe.skipIf(!hasBrowser)(`a chat that does not answer${skipReason}`, () => {
  it('states that it is paused, before and in a conversation', async () => {
    const page = await openSharePage()
    await page.getByRole('button', { name: question }).waitFor()
    await pause('pause')
    await ask(page, question)
    await page.getByText('This chat is paused. Please come back later.').last().waitFor()
    await expectAccessible(page)
    const later = await openSharePage(narrow)
    await later.getByText('This chat is paused. Please come back later.').last().waitFor()
    await expectAccessible(later)
    await pause('resume')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
  })

  it('states that the limit of the day is reached', async () => {
    await changeSite({ dailyCapUsd: '0.000000000001' })
    const page = await openSharePage()
    await ask(page, question)
    await page.getByText('This chat has answered all it can for now. It will be back ').last().waitFor()
    await changeSite()
  })

  it('counts down until the next question is allowed', async () => {
    await changeSite({ limits: { visitorPerMinute: 1, addressPerMinute: 1_000, spacePerMinute: 1_000 } })
    const page = await openSharePage()
    await ask(page, question)
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
    await ask(page, 'When is the canteen open?')
    await page
      .getByText(/You can ask again in \d+ s\./)
      .last()
      .waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await changeSite()
  })

  it('asks for its password, and states when it is wrong', async () => {
    await changeSite({ access: 'password', password: 'correct horse' })
    const page = await openSharePage(narrow)
    await page.getByLabel('Password').fill('wrong horse')
    await page.getByRole('button', { name: 'Open chat' }).click()
    await page.getByText('That password is not right.').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Password').fill('correct horse')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: question }).waitFor()
    await changeSite()
  })

  it('leads members to the sign-in page and back', async () => {
    await changeSite({ access: 'members', allowedOrigins: [] })
    const page = await openSharePage()
    const link = page.getByRole('link', { name: 'Sign in' })
    expect(await link.getAttribute('href')).toBe('/console/sign-in?returnTo=%2Fs%2Facme-handbook')
    await expectAccessible(page)
    const person = { email: 'm@example.com', organisationId: seeded.organisation.id, role: 'member' } as const
    await createPerson(stage.portico, person)
    await link.click()
    await fillSignIn(page, person.email)
    await page.waitForURL(`${stage.portico.url}/s/acme-handbook`)
    await page.getByRole('button', { name: question }).click()
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
    await changeSite()
  })

  it('keeps the question when the connection is lost', async () => {
    const page = await openSharePage()
    await page.getByRole('button', { name: question }).waitFor()
    await page.context().setOffline(true)
    await ask(page, question)
    await page.getByText('There is no connection.').last().waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Copy answer' }).waitFor()
  })
})

describe.skipIf(!hasBrowser)(`the button on a website of another origin${skipReason}`, () => {
  it('opens the chat, answers, and gives the focus back', async () => {
    const page = await openWebsite(shop)
    const before = await page.locator('#text').boundingBox()
    const launcher = page.getByRole('button', { name: /^Open chat/ })
    expect(await launcher.count()).toBe(1)
    await launcher.click()
    const frame = page.frameLocator('iframe')
    await ask(frame, question)
    await frame.getByRole('button', { name: 'Copy answer' }).waitFor()
    const source = frame.getByRole('button', { name: /^Source \d: handbook.pdf/ }).first()
    await source.click()
    await frame.getByRole('dialog').getByText(quote).waitFor()
    expect(await page.locator('#text').boundingBox()).toEqual(before)
    // The first Escape closes the quote, the second the panel, also where the quote does not have the focus yet.
    await source.focus()
    const isOpen = () => page.evaluate(() => document.querySelector('portico-chat')!.matches(':focus-within'))
    await page.keyboard.press('Escape')
    await frame.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(await page.locator('iframe').isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await page.locator('iframe').waitFor({ state: 'hidden' })
    expect(await isOpen()).toBe(true)
    expect(await page.context().cookies()).toEqual([])
    expect(problems()).toEqual([])
  })

  it('fills a small window, and counts answers that arrive while it is closed', async () => {
    const page = await openWebsite(shop, narrow)
    await page.getByRole('button', { name: /^Open chat/ }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: question }).waitFor()
    expect(await page.locator('iframe').boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 })
    await expectNoSidewaysScroll(page)
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/chat', async (route) => {
      await held
      await route.continue()
    })
    await ask(frame, question)
    await frame.getByRole('button', { name: 'Close' }).click()
    await page.locator('iframe').waitFor({ state: 'hidden' })
    release()
    await page.getByRole('button', { name: /^Open chat.*new answers: 1/ }).waitFor()
    await expectAccessible(page)
  })

  it('states that there is no chat any more after it was turned off', async () => {
    await changeSite({ enabled: false })
    const page = await openWebsite(shop)
    await page.getByRole('button', { name: /^Open chat/ }).click()
    await page.frameLocator('iframe').getByText('This chat is not available.').last().waitFor()
    await expectAccessible(page)
    await page.frameLocator('iframe').getByRole('button', { name: 'Close' }).click()
    await page.locator('iframe').waitFor({ state: 'hidden' })
    await changeSite()
  })

  it('is blocked on a website that is not in the list', async () => {
    const page = await openWebsite(stranger)
    await page.getByRole('button', { name: /^Open chat/ }).click()
    await expect.poll(() => page.frames().some((frame) => frame.url().startsWith('chrome-error:'))).toBe(true)
  })
})

describe.skipIf(!hasBrowser)(`the console${skipReason}`, () => {
  it('leads an administrator to a link, a line for a website, and a pause', async () => {
    const { organisation } = seeded
    const space = await stage.portico.createSpace(organisation, { name: 'Riverside Museum' })
    const admin = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
    const { page } = await stage.openAs(admin)
    await page.goto(`${stage.url}/organisations/${organisation.id}/published-spaces/${space.id}`)
    await page.getByRole('link', { name: 'Set up, share and limit the hosted chat' }).click()
    await page.getByRole('textbox', { name: 'Websites that may show the chat' }).fill(`${shop.origin}/jobs?x=1`)
    await page.getByRole('textbox', { name: 'Greeting' }).fill('Welcome to the museum!')
    await page.getByText('Welcome to the museum!').last().waitFor()
    await page.getByRole('button', { name: 'Turn on' }).click()
    const link = await page.getByRole('textbox', { name: 'Link', exact: true }).inputValue()
    expect(link).toBe(`${stage.portico.url}/s/riverside-museum`)
    expect(await page.getByText('<script src=').innerText()).toContain(`${stage.portico.url}/widget.js`)
    await expectAccessible(page)
    const visitor = (await stage.openWindow()).page
    await visitor.goto(link)
    await visitor.getByText('Welcome to the museum!').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('The chat is paused').waitFor()
    await visitor.reload()
    await visitor.getByText('This chat is paused. Please come back later.').last().waitFor()

    // Another administrator resumes the chat and changes its title while the greeting is typed.
    await page.getByRole('textbox', { name: 'Greeting' }).fill('Good morning!')
    const site = `/api/spaces/${space.id}/site`
    expectStatus(await stage.portico.operator('POST', `${site}/resume`), 200)
    const stored = expectStatus(await stage.portico.operator('GET', site), 200).site
    const { name, access, allowedOrigins, greeting, dailyCapUsd, limits } = stored
    const changed = { enabled: true, name, access, allowedOrigins, greeting, dailyCapUsd, limits, title: 'The museum' }
    expectStatus(await stage.portico.operator('PUT', site, changed), 200)
    await page.getByRole('button', { name: 'Save changes' }).click()
    const siteNow = async () => expectStatus(await stage.portico.operator('GET', site), 200).site
    await expect.poll(siteNow).toMatchObject({ title: 'The museum', greeting: 'Good morning!', paused: false })
    expect(problems()).toEqual([])
  })
})

describe('the files of the hosted chat', () => {
  const folder = path.resolve(import.meta.dirname, '../../dist/visitor')
  const sizeOf = (file: string) => statSync(path.join(folder, `${file}.gz`), { throwIfNoEntry: false })?.size ?? 0

  it('are at most 5 KiB for every page of a website, and 60 KiB for the chat in any language', () => {
    expect(sizeOf('widget.js')).toBeGreaterThan(1_000)
    expect(sizeOf('widget.js') / 1024).toBeLessThan(5)
    const assets = readdirSync(path.join(folder, 'assets')).filter((name) => name.endsWith('.gz'))
    // All languages, of which a visitor loads one, and the puzzle, which few visitors load.
    const total = assets.reduce((sum, name) => sum + sizeOf(`assets/${name.slice(0, -3)}`), 0)
    expect((total + readFileSync(path.join(folder, 'index.html')).length) / 1024).toBeLessThan(60)
  })
})
