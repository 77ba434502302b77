import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createSecretBox, publicNetworks, sharedOwner, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { serviceActor } from '../operators/index.ts'
import { reencryptColumn } from '../operators/index.ts'
import { alertSecretsColumn } from './alert-settings.store.ts'
import { createAlerts } from './alerts.ts'
import { loadAuditFindings } from './alerts.store.ts'
import type { AlertCondition, AlertSources } from './port.ts'

let databases: TestDatabases
let found: AlertCondition[]
let isBroken = false
let audits: number
let auditFindings: () => number
/** Requests that the webhook received, and what it answers. */
let received: { url: string; headers: Record<string, string>; body: string }[]
let status: number
let mails: { to: readonly string[]; subject: string; text: string }[]

const secretBox = createSecretBox('a key of at least thirty-two bytes')
const nothing = async () => []
const sources: AlertSources = {
  budget: nothing,
  velocity: nothing,
  provider: async () => {
    if (isBroken) throw new Error('the database does not answer')
    return found
  },
  model: nothing,
  disk: nothing,
  certificate: nothing,
  ledger: nothing,
  jobs: nothing,
}

const fetchWebhook = (async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
  received.push({ url, headers, body })
  return new Response(null, { status })
}) as unknown as typeof fetch

const openInstance = () =>
  createAlerts({
    database: databases.control,
    clock: systemClock,
    log: silentLog,
    secretBox,
    sources,
    auditLedger: async () => {
      audits += 1
      return auditFindings()
    },
    fetch: fetchWebhook,
    webhookRule: publicNetworks(),
    sendMail: async (mail) => void mails.push(mail),
    pageUrl: 'https://portico.example.org/console/operator/alerts',
  })

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())
beforeEach(async () => {
  found = []
  isBroken = false
  audits = 0
  auditFindings = () => 0
  received = []
  mails = []
  status = 204
  for (const table of ['alerts', 'alert_deliveries', 'alert_channels'])
    await databases.control.execute(`delete from ${table}`)
  await databases.control.execute(
    `update alert_settings set kinds = '{}', recipients = '{}', ledger_audit_at = '-infinity', ledger_findings = 0`,
  )
})

const down: AlertCondition = {
  subject: 'azure',
  severity: 'critical',
  title: 'The provider azure fails.',
  details: { provider: 'azure' },
}

const makeDue = () => databases.control.execute('update alert_deliveries set next_attempt_at = now()')

describe('alerts', () => {
  test('are raised once by all instances together, and resolved when the problem is over', async () => {
    const [one, other] = [openInstance(), openInstance()]
    found = [down]
    await Promise.all([one.evaluate(), other.evaluate()])
    await one.evaluate()
    expect(await one.loadPage({ limit: 10 })).toMatchObject([{ subject: 'azure', kind: 'provider', resolvedAt: null }])
    found = []
    await other.evaluate()
    const [resolved, ...others] = await one.loadPage({ limit: 10 })
    expect(others).toEqual([])
    expect(resolved!.resolvedAt).not.toBeNull()
    found = [down]
    await one.evaluate()
    expect(await one.loadPage({ limit: 10 })).toHaveLength(2)
    expect(await one.countOpen()).toBe(1)
  })

  test('stay as they are while their source fails', async () => {
    const alerts = openInstance()
    found = [down]
    await alerts.evaluate()
    isBroken = true
    await alerts.evaluate()
    expect(await alerts.loadPage({ state: 'open', limit: 10 })).toHaveLength(1)
  })

  test('end without a message when their kind is switched off', async () => {
    const alerts = openInstance()
    await alerts.changeSettings({ recipients: ['ops@example.org'] }, serviceActor)
    found = [down]
    await alerts.evaluate()
    await alerts.changeSettings({ kinds: { provider: { enabled: false } } }, serviceActor)
    await alerts.evaluate()
    expect(await alerts.loadPage({ state: 'open', limit: 10 })).toEqual([])
    expect(await alerts.loadDeliveries(10, undefined)).toMatchObject([{ event: 'alert.raised' }])
  })

  test('have thresholds within the bounds of their kind', async () => {
    const alerts = openInstance()
    await expect(alerts.changeSettings({ kinds: { disk: { threshold: 95 } } }, serviceActor)).rejects.toThrow(
      'must be from 1 to 90',
    )
    const { kinds } = await alerts.changeSettings({ kinds: { disk: { threshold: 20 } } }, serviceActor)
    expect(kinds.disk).toEqual({ enabled: true, threshold: 20 })
    expect(kinds.budget).toEqual({ enabled: true, threshold: 80 })
  })

  test('know what a scheduled audit of the ledger has found: one instance runs it, once in the set hours', async () => {
    const instances = [openInstance(), openInstance()]
    auditFindings = () => 3
    await Promise.all(instances.map((alerts) => alerts.auditLedgerInTurn()))
    await instances[1]!.auditLedgerInTurn()
    expect(audits).toBe(1)
    expect(await loadAuditFindings(databases.control.for(sharedOwner))).toBe(3)
    const passHours = (hours: number) =>
      databases.control.execute(`update alert_settings set ledger_audit_at = now() - $1 * interval '1 hour'`, [hours])
    auditFindings = () => 0
    await passHours(23)
    await instances[0]!.auditLedgerInTurn()
    expect(audits).toBe(1)
    await passHours(25)
    await instances[0]!.auditLedgerInTurn()
    expect([audits, await loadAuditFindings(databases.control.for(sharedOwner))]).toEqual([2, 0])
  })

  test('have an audit repeated that has failed, and none where its hours are 0', async () => {
    const alerts = openInstance()
    auditFindings = () => {
      throw new Error('the database does not answer')
    }
    await expect(alerts.auditLedgerInTurn()).rejects.toThrow('does not answer')
    await expect(alerts.auditLedgerInTurn()).rejects.toThrow('does not answer')
    expect(audits).toBe(2)
    await alerts.changeSettings({ kinds: { ledger: { threshold: 0 } } }, serviceActor)
    await alerts.auditLedgerInTurn()
    expect(audits).toBe(2)
  })

  test('page through the list from the newest on', async () => {
    const alerts = openInstance()
    found = ['a', 'b', 'c'].map((subject) => ({ ...down, subject }))
    await alerts.evaluate()
    const first = await alerts.loadPage({ limit: 2 })
    const last = first.at(-1)!
    const second = await alerts.loadPage({ limit: 2, after: { atMs: last.raisedAt.getTime(), id: last.id } })
    expect([...first, ...second].map(({ subject }) => subject).toSorted()).toEqual(['a', 'b', 'c'])
  })
})

describe('messages about alerts', () => {
  test('are signed as Standard Webhooks has it', async () => {
    const alerts = openInstance()
    const { secret } = await alerts.setWebhook('https://hooks.example.org/portico', serviceActor)
    found = [down]
    await alerts.evaluate()
    expect(await alerts.deliverDue()).toBe(1)
    const [{ url, headers, body }] = received as [(typeof received)[number]]
    expect(url).toBe('https://hooks.example.org/portico')
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    expect(key).toHaveLength(32)
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    expect(JSON.parse(body)).toMatchObject({
      type: 'alert.raised',
      data: { kind: 'provider', subject: 'azure', title: down.title, details: { provider: 'azure' }, resolvedAt: null },
    })
  })

  test('are repeated with the same id until the receiver accepts them, and can be sent again', async () => {
    const alerts = openInstance()
    await alerts.setWebhook('https://hooks.example.org/portico', serviceActor)
    found = [down]
    await alerts.evaluate()
    status = 503
    await alerts.deliverDue()
    expect(await alerts.deliverDue()).toBe(0)
    expect(await alerts.loadDeliveries(10, undefined)).toMatchObject([
      { attempts: 1, finishedAt: null, failure: 'status 503' },
    ])
    status = 200
    await makeDue()
    await alerts.deliverDue()
    const [delivered] = await alerts.loadDeliveries(10, undefined)
    expect(delivered).toMatchObject({ attempts: 2, failure: null })
    expect(delivered!.finishedAt).not.toBeNull()
    expect(await alerts.resend(delivered!.id)).toBe(true)
    await alerts.deliverDue()
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivered!.id]))
    expect(received).toHaveLength(3)
  })

  test('are given up after 14 attempts', async () => {
    const alerts = openInstance()
    await alerts.setWebhook('https://hooks.example.org/portico', serviceActor)
    await alerts.sendTest('webhook')
    status = 500
    for (let attempt = 0; attempt < 15; attempt += 1) {
      await makeDue()
      await alerts.deliverDue()
    }
    expect(received).toHaveLength(14)
    const [message] = await alerts.loadDeliveries(10, undefined)
    expect(message).toMatchObject({ attempts: 14, failure: 'status 500' })
    expect(message!.finishedAt).not.toBeNull()
  })

  test('go to all recipients by e-mail, raised and resolved', async () => {
    const alerts = openInstance()
    await alerts.changeSettings({ recipients: ['ops@example.org', 'lead@example.org'] }, serviceActor)
    found = [down]
    await alerts.evaluate()
    found = []
    await alerts.evaluate()
    await alerts.deliverDue()
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
      'Alert: The provider azure fails.',
      'Resolved: The provider azure fails.',
    ])
    expect(mails[0]!.to).toEqual(['ops@example.org', 'lead@example.org'])
    expect(mails[0]!.text).toContain('https://portico.example.org/console/operator/alerts')
  })

  test('reach no private address, and a test needs a receiver', async () => {
    const alerts = openInstance()
    await expect(alerts.setWebhook('http://127.0.0.1/hook', serviceActor)).rejects.toThrow('public internet')
    await expect(alerts.sendTest('webhook')).rejects.toThrow('No webhook for alerts is set.')
    await expect(alerts.sendTest('email')).rejects.toThrow('No recipient of alerts is set.')
  })

  test('have a secret that is stored encrypted, renewed with the secret key, and in no log', async () => {
    const alerts = openInstance()
    const { secret } = await alerts.setWebhook('https://hooks.example.org/secret-path', serviceActor)
    const rows = await databases.control.query<{ stored: string }>(
      `select secret_sealed as stored from alert_channels union all select coalesce(before::text, '') || coalesce(after::text, '') from admin_log`,
    )
    for (const { stored } of rows) {
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain('secret-path')
    }
    const next = createSecretBox('another key of at least thirty-two b', 'a key of at least thirty-two bytes')
    const database = databases.control.for(sharedOwner)
    expect(await reencryptColumn(database, next, alertSecretsColumn)).toMatchObject({ reencrypted: 1 })
  })
})
