import {
  type AlertChannel,
  alertKinds,
  type AlertKind,
  type AlertSettingsBody,
  type AlertSettingsChange,
  alertThresholds,
} from '../../contract/alerts.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  assertVersion,
  type Clock,
  describeError,
  type Log,
  type NetworkRule,
  repeatWork,
  type SecretBox,
  sharedOwner,
  versionOf,
  invalidField,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import { checkWebhookUrl } from '../organisations/index.ts'
import { createAlertDelivery, createWebhookSecret } from './alert-delivery.ts'
import { messagesOfAlert, testMessage } from './alert-messages.ts'
import {
  loadAlertSettings,
  loadAlertWebhook,
  saveAlertSettings,
  saveAlertWebhook,
  type StoredWebhook,
  webhookSecretContext,
} from './alert-settings.store.ts'
import {
  addDeliveries,
  applyConditions,
  countOpenAlerts,
  giveAuditTurnBack,
  loadAlerts,
  loadDeliveries,
  recordAudit,
  recordLedgerAudit,
  resendDelivery,
  takeTurn,
  tidyAlerts,
  type Transitions,
} from './alerts.store.ts'
import type { Alert, AlertSettings, AlertSources } from './port.ts'
import type { SendMail } from './send-mail.ts'

const evaluateEveryMs = 30_000
const deliverEveryMs = 5_000
const tidyEveryMs = 3_600_000
/** How often an instance looks whether an audit of the ledger is due. */
const auditLookEveryMs = 600_000
const hourMs = 3_600_000

export interface AlertsDeps {
  database: Database
  clock: Clock
  log: Log
  secretBox: SecretBox
  sources: AlertSources
  /** Runs the audit of the ledger; resolves to the number of findings. */
  auditLedger: () => Promise<number>
  /** Connects only to addresses that webhooks may have. */
  fetch: typeof fetch
  webhookRule: NetworkRule
  /** undefined: no mail server is configured. */
  sendMail: SendMail | undefined
  /** Address of the console's page of alerts, for e-mails. */
  pageUrl: string | undefined
}

export type Alerts = ReturnType<typeof createAlerts>

/** Alerts of the installation. Every instance takes turns to evaluate; the database keeps one open alert for each problem. */
export function createAlerts(deps: AlertsDeps) {
  const { clock, log, secretBox, sendMail } = deps
  const database = deps.database.for(sharedOwner)
  const loadWebhook = async () => {
    const stored = await loadAlertWebhook(database)
    return stored && { url: stored.url, secret: secretBox.open(stored.secretSealed, webhookSecretContext) }
  }
  const delivery = createAlertDelivery({
    ...deps,
    database,
    loadWebhook,
    loadRecipients: async () => (await loadAlertSettings(database)).recipients,
  })
  let tidiedMs = clock.monotonicMs()
  const repeated: ReturnType<typeof repeatWork>[] = []
  const repeat = (everyMs: number, work: () => Promise<void>, failure: string) =>
    repeated.push(
      repeatWork({ clock, everyMs, work, onFailed: (error) => log.error({ error: describeError(error) }, failure) }),
    )

  async function evaluateInTurn(): Promise<void> {
    if (!(await takeTurn(database, 'evaluated_at', evaluateEveryMs - deliverEveryMs))) return
    await evaluate(deps)
    if (clock.monotonicMs() - tidiedMs < tidyEveryMs) return
    tidiedMs = clock.monotonicMs()
    await tidyAlerts(database)
  }

  return {
    start(): void {
      repeat(evaluateEveryMs, evaluateInTurn, 'alerts could not be evaluated')
      repeat(auditLookEveryMs, () => auditLedgerInTurn(deps), 'the ledger could not be audited')
      repeat(deliverEveryMs, async () => void (await delivery.deliverDue()), 'messages about alerts could not be sent')
    },
    async close(): Promise<void> {
      for (const work of repeated) await work.close()
    },
    /** What the timers do. */
    evaluate: () => evaluate(deps),
    deliverDue: () => delivery.deliverDue(),
    auditLedgerInTurn: () => auditLedgerInTurn(deps),
    loadPage: (filter: Parameters<typeof loadAlerts>[1]) => loadAlerts(database, filter),
    countOpen: () => countOpenAlerts(database),
    /** The budget alerts of one organisation, newest first. */
    loadOfOrganisation: (organisationId: string, limit: number, state?: 'open') =>
      loadAlerts(deps.database.for(organisationId), { organisationId, kind: 'budget', limit, state }),
    loadSettings: async () => renderSettings(deps, await loadAlertSettings(database)),
    /** `ifMatch`: as `assertVersion` has it. */
    async changeSettings(change: AlertSettingsChange, actor: Actor, ifMatch?: string) {
      const author = { actor, atMs: clock.now(), check: checkOf(ifMatch) }
      return renderSettings(deps, await saveAlertSettings(database, (before) => changed(before, change), author))
    },
    async setWebhook(url: string, actor: Actor, ifMatch?: string) {
      const checked = checkWebhookUrl(url, deps.webhookRule)
      const secret = createWebhookSecret()
      const stored = { url: checked, secretSealed: secretBox.seal(secret, webhookSecretContext) }
      await saveAlertWebhook(database, stored, { actor, atMs: clock.now(), check: checkOf(ifMatch) })
      return { url: checked, secret }
    },
    removeWebhook: (actor: Actor, ifMatch?: string) =>
      saveAlertWebhook(database, null, { actor, atMs: clock.now(), check: checkOf(ifMatch) }),
    async sendTest(channel: AlertChannel): Promise<string> {
      await assertReceiver(deps, channel)
      const message = testMessage(channel, { pageUrl: deps.pageUrl, nowMs: clock.now() })
      await addDeliveries(database, [message])
      return message.id
    },
    loadDeliveries: (limit: number, after: { atMs: number; id: string } | undefined) =>
      loadDeliveries(database, limit, after),
    resend: (id: string) => resendDelivery(database, id),
    noteAudit(findings: readonly { area: string }[]): Promise<void> {
      const ledger = findings.filter(({ area }) => area === 'ledger').length
      return recordAudit(database, ledger, findings.length - ledger)
    },
    hasMail: sendMail !== undefined,
  }
}

/** One instance audits the ledger when that is due. What it finds is an alert of the kind `ledger`. */
async function auditLedgerInTurn({ log, auditLedger, ...deps }: AlertsDeps): Promise<void> {
  const database = deps.database.for(sharedOwner)
  const { enabled, threshold: hours } = (await loadAlertSettings(database)).kinds.ledger
  if (!enabled || hours === 0 || !(await takeTurn(database, 'ledger_audit_at', hours * hourMs))) return
  try {
    const findings = await auditLedger()
    await recordLedgerAudit(database, findings)
    log.info({ findings }, 'the ledger was audited')
  } catch (error) {
    await giveAuditTurnBack(database)
    throw error
  }
}

/** Compares what the sources find with the open alerts. A source that fails changes nothing of its kind. */
async function evaluate(deps: AlertsDeps): Promise<void> {
  const database = deps.database.for(sharedOwner)
  const settings = await loadAlertSettings(database)
  const channels = await usedChannels(deps, settings)
  for (const kind of alertKinds) {
    try {
      await evaluateKind(deps, kind, settings, channels)
    } catch (error) {
      deps.log.warn({ kind, error: describeError(error) }, 'alerts of a kind could not be evaluated')
    }
  }
}

async function evaluateKind(
  { database, clock, log, sources, pageUrl }: AlertsDeps,
  kind: AlertKind,
  { kinds }: AlertSettings,
  channels: readonly AlertChannel[],
): Promise<void> {
  const { enabled, threshold } = kinds[kind]
  const conditions = enabled ? await sources[kind](threshold) : []
  const messagesOf = ({ raised, resolved }: Transitions) => {
    const context = { channels, pageUrl, nowMs: clock.now() }
    return [
      ...raised.flatMap((alert) => messagesOfAlert('alert.raised', alert, context)),
      // A kind that was switched off ends without a message.
      ...(enabled ? resolved.flatMap((alert) => messagesOfAlert('alert.resolved', alert, context)) : []),
    ]
  }
  const { raised, resolved } = await applyConditions(database.for(sharedOwner), kind, conditions, messagesOf)
  for (const alert of raised) log.warn(fieldsOf(alert), 'an alert is raised')
  for (const alert of resolved) log.info(fieldsOf(alert), 'an alert is resolved')
}

const fieldsOf = ({ id, kind, subject, severity }: Alert) => ({ alert: id, kind, subject, severity })

async function usedChannels({ database }: AlertsDeps, { recipients }: AlertSettings): Promise<AlertChannel[]> {
  const webhook = await loadAlertWebhook(database.for(sharedOwner))
  return [...(webhook ? (['webhook'] as const) : []), ...(recipients.length > 0 ? (['email'] as const) : [])]
}

/** Throws `invalid_request` if nobody would get the message. */
async function assertReceiver(deps: AlertsDeps, channel: AlertChannel): Promise<void> {
  const channels = await usedChannels(deps, await loadAlertSettings(deps.database.for(sharedOwner)))
  if (!channels.includes(channel)) {
    const message = channel === 'webhook' ? 'No webhook for alerts is set.' : 'No recipient of alerts is set.'
    throw invalidField('channel', message)
  }
  if (channel === 'email' && !deps.sendMail) {
    throw invalidField('channel', 'No mail server is configured (`mail.host`).')
  }
}

async function renderSettings({ database, sendMail }: AlertsDeps, settings: AlertSettings): Promise<AlertSettingsBody> {
  const webhook = await loadAlertWebhook(database.for(sharedOwner))
  return {
    ...settings,
    mail: { configured: sendMail !== undefined },
    webhook: webhook ? { url: webhook.url } : null,
    version: versionOf(versioned(settings, webhook)),
  }
}

/** All settings, with the sealed secret of the webhook. */
const versioned = (settings: AlertSettings, webhook: StoredWebhook | undefined) => ({
  ...settings,
  webhook: webhook ?? null,
})

const checkOf = (ifMatch: string | undefined) => (settings: AlertSettings, webhook: StoredWebhook | undefined) =>
  assertVersion(ifMatch, versioned(settings, webhook))

/** Throws `invalid_request` on a threshold outside of the bounds of its kind. */
function changed(before: AlertSettings, { kinds = {}, recipients }: AlertSettingsChange): AlertSettings {
  const after = { kinds: { ...before.kinds }, recipients: recipients ?? before.recipients }
  for (const [name, change] of Object.entries(kinds)) {
    const kind = name as AlertKind
    if (!change) continue
    const bounds = alertThresholds[kind]
    const { enabled, threshold } = change
    if (threshold !== undefined && (threshold < bounds.minimum || threshold > bounds.maximum)) {
      const message = `The threshold of ${kind} must be from ${bounds.minimum} to ${bounds.maximum}.`
      throw invalidField(`kinds.${kind}.threshold`, message)
    }
    after.kinds[kind] = {
      enabled: enabled ?? before.kinds[kind].enabled,
      threshold: threshold ?? before.kinds[kind].threshold,
    }
  }
  return after
}
