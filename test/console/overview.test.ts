import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  expectAccessible,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
  type Window,
} from './harness/console.ts'

/** The home page of operators, the health of providers, alerts, and the switcher of organisations. */

let stage: TestConsole
let operator: Window
let northwind: string
let contoso: string

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
const picoUsd = 1_000_000_000_000

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  northwind = (await stage.portico.createOrganisation({ name: 'Northwind Research' })).id
  contoso = (await stage.portico.createOrganisation({ name: 'Contoso' })).id
  await addUsage()
  operator = await stage.openAs({ email: 'root@example.org' })
})
afterAll(() => stage?.stop())

/** Sums of 30 days, a failing deployment with its history, and open alerts. */
async function addUsage() {
  const { control } = stage.portico.service
  const sums = [
    [northwind, 'azure', 'gpt-5', 'eu', 12],
    [contoso, 'openai', 'gpt-5-mini', 'us', 3],
    [contoso, 'portico', 'portico/offline', 'local', 0],
  ] as const
  for (let ago = 0; ago < 30; ago += 1) {
    for (const [organisation, provider, model, hosting, usd] of sums) {
      const billed = BigInt(Math.round(usd * (1 + (ago % 7) / 10) * picoUsd))
      const figures = [120, ago % 5, 40_000, 9_000, billed]
      await control.execute('insert into installation_days values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)', [
        day(ago),
        organisation,
        provider,
        model,
        hosting,
        ...figures,
      ])
      await control.execute('insert into installation_provider_days values ($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
        day(ago),
        provider,
        model,
        hosting,
        ...figures,
      ])
      await control.execute(
        `insert into installation_organisation_days as d values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (day, organisation_id) do update set requests = d.requests + excluded.requests,
           failed_requests = d.failed_requests + excluded.failed_requests, billed_pico_usd = d.billed_pico_usd + excluded.billed_pico_usd`,
        [day(ago), organisation, ...figures],
      )
      for (const bucket of [36, 40, 46])
        await control.execute('insert into installation_provider_latency values ($1, $2, $3, $4, $5, 30, 40)', [
          day(ago),
          provider,
          model,
          hosting,
          bucket,
        ])
    }
    await control.execute(`insert into deployment_days values ($1, 'portico/offline', $2, $3, 2, 1, 0)`, [
      day(ago),
      400 - ago,
      ago % 6 === 0 ? 40 : ago % 2,
    ])
    await control.execute(`insert into deployment_latency values ($1, 'portico/offline', 38, 100, 300)`, [day(ago)])
  }
  const offline = await offlineDeployment()
  await control.execute(`update deployment_days set deployment_id = $1`, [offline])
  await control.execute(`update deployment_latency set deployment_id = $1`, [offline])
  await control.execute(`insert into deployment_errors values ($1, $2, 'server_error', 31), ($1, $2, 'timeout', 9)`, [
    day(1),
    offline,
  ])
  await control.execute(
    `insert into deployment_events (at, deployment_id, instance_id, kind, error_class, status)
     values (now() - interval '2 hours', $1, gen_random_uuid(), 'opened', 'server_error', 503), (now() - interval '1 hour', $1, gen_random_uuid(), 'closed', null, null)`,
    [offline],
  )
  await control.execute(
    `insert into deployment_failures (deployment_id, instance_id, kind, since, error_class, status, seen_at)
     values ($1, gen_random_uuid(), 'circuit', now() - interval '9 minutes', 'server_error', 503, now() + interval '1 day')`,
    [offline],
  )
  // The kinds that the service evaluates by itself would end these alerts.
  await control.execute(`update alert_settings set evaluated_at = 'infinity'`)
  await control.execute(
    `insert into alerts (id, kind, subject, organisation_id, severity, title, details, raised_at) values
       (gen_random_uuid(), 'budget', 'x', $1, 'warning', 'Northwind Research has used 80 % of its budget.',
         '{"organisation":"Northwind Research","percent":80,"period":"2026-11-01","budgetUsd":"100","spentUsd":"81.5"}', now() - interval '1 hour'),
       (gen_random_uuid(), 'model', 'portico/offline', null, 'critical', 'The model fails.', '{"model":"portico/offline","reason":"server_error"}', now())`,
    [northwind],
  )
}

async function offlineDeployment(): Promise<string> {
  const { body } = await stage.portico.operator('GET', '/api/console/deployments?search=portico/offline&limit=5')
  return body.items[0].id
}

const open = (path: string) => operator.page.goto(`${stage.url}${path}`)

describe.skipIf(!hasBrowser)(`the home of operators${skipReason}`, () => {
  it('starts at the overview, without a menu of a team', async () => {
    const { page } = operator
    await open('')
    await page.waitForURL(/\/console\/operator\/?$/)
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const menu = page.getByRole('navigation').first()
    await menu.getByRole('link', { name: 'Health' }).waitFor()
    expect(await menu.getByRole('link', { name: 'Developer Tools' }).count()).toBe(0)
    expect(await menu.getByRole('link', { name: 'Usage' }).count()).toBe(0)
  })

  it('shows who spent what and what fails on one page', async () => {
    const { page } = operator
    const table = page.getByRole('table', { name: 'Sums of the range' })
    await table.getByRole('button', { name: 'Northwind Research' }).waitFor()
    await page.getByText('1 model failing').waitFor()
    await page.getByText('Northwind Research has used 80% of its budget: US$81.50 of US$100.00.').waitFor()
    await page.getByText(/expected at its end/).waitFor()
    await page.getByRole('figure').locator('path').first().waitFor()
    await expectAccessible(page)
  })

  it('leads from an organisation to its models, to the days of one, and to their receipts', async () => {
    const { page } = operator
    await page.getByRole('button', { name: 'Northwind Research' }).click()
    await page.getByRole('button', { name: 'gpt-5', exact: true }).click()
    await page.waitForURL(/model=gpt-5/)
    const receipts = page
      .getByRole('table', { name: 'Days' })
      .getByRole('link', { name: /Receipts/ })
      .first()
    expect(await receipts.getAttribute('href')).toContain(`/organisations/${northwind}/usage?view=requests`)
    await expectAccessible(page)
    await receipts.click()
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await open(`/organisations/${northwind}/usage`)
    await page.getByText('Northwind Research has used 80%').waitFor()
  })

  it('switches to any organisation by search, and offers those that were opened last', async () => {
    const { page } = operator
    await open('/operator')
    await page.getByRole('button', { name: 'Organisation…' }).click()
    const recent = page.getByRole('group', { name: 'Recent' })
    await recent.getByRole('link', { name: 'Northwind Research' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('textbox', { name: 'Search organisations' }).fill('conto')
    await page.getByRole('group', { name: 'Found' }).getByRole('link', { name: 'Contoso' }).click()
    await page.waitForURL(new RegExp(`/organisations/${contoso}/spaces`))
    await page.getByRole('button', { name: 'Switch organisation; current: Contoso' }).waitFor()
    await page.getByRole('navigation').first().getByRole('link', { name: 'Developer Tools' }).waitFor()
  })

  it('shows the health of providers over 30 days', async () => {
    const { page } = operator
    await open('/operator/health')
    await page.getByRole('heading', { name: 'portico', level: 2 }).waitFor()
    await page.getByText('server_error 31 · timeout 9').waitFor()
    await page.getByRole('table', { name: 'Circuits' }).getByText('Opened').waitFor()
    await expectAccessible(page)
    await open('/operator/providers')
    await page.getByText('1 model failing').waitFor()
  })

  it('lists alerts, saves a threshold, and shows the secret of a webhook once', async () => {
    const { page } = operator
    await open('/operator/alerts')
    await page.getByText('The model portico/offline fails at every provider (server_error).').waitFor()
    await expectAccessible(page)
    await page.getByText('Settings', { exact: true }).click()
    await page.getByLabel('Per cent free').fill('25')
    await page.getByLabel('Per cent free').blur()
    await page.getByText('The settings are saved.').first().waitFor()
    await page.getByRole('textbox', { name: 'Address' }).fill('http://10.0.0.1/hook')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.getByText(/url must be on the public internet/).waitFor()
    await page.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.org/portico')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    expect(await page.getByLabel('Signing secret').inputValue()).toMatch(/^whsec_/)
    await expectAccessible(page)
    const { body } = await stage.portico.operator('GET', '/api/alerts/settings')
    expect(body).toMatchObject({
      kinds: { disk: { threshold: 25 } },
      webhook: { url: 'https://hooks.example.org/portico' },
    })
  })

  it('lists messages with their outcome and sends one again', async () => {
    const { page } = operator
    await stage.portico.service.control.execute(
      `insert into alert_deliveries (id, alert_id, event, channel, subject, body, attempts, finished_at, failure)
       values (gen_random_uuid(), null, 'alert.test', 'email', 'Test: a message', 'x', 14, now(), 'status 503')`,
    )
    await open('/operator/alerts?view=messages')
    await page.getByText('status 503').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Send again: Test: a message' }).click()
    await page.getByText('The message is sent again.').waitFor()
  })

  it('fits a phone', async () => {
    const phone = await stage.openAs({ email: 'root@example.org' }, { viewport: { width: 390, height: 800 } })
    for (const path of ['/operator', '/operator/health', '/operator/alerts', '/operator/alerts?view=settings']) {
      await phone.page.goto(`${stage.url}${path}`)
      await phone.page.getByRole('heading', { level: 1 }).waitFor()
      const width = await phone.page.evaluate(() => document.documentElement.scrollWidth)
      expect({ path, width }).toEqual({ path, width: 390 })
    }
  })

  it('has no problems', () => expect(stage.problems).toEqual([]))
})
