import { type AlertKind, alertKinds, alertThresholds } from '../../contract/alerts.ts'
import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { type Actor, recordAdminChange, type SealedColumn } from '../operators/index.ts'
import type { AlertSettings, KindSettings } from './port.ts'

export const alertSecretsColumn: SealedColumn = {
  kind: 'webhooks',
  table: 'alert_channels',
  id: 'id',
  column: 'secret_sealed',
  contextOf: (id) => `alert-channel:${id}`,
}

const webhook = 'webhook'

type StoredKinds = Partial<Record<AlertKind, { enabled?: boolean; threshold?: number | null }>>

export async function loadAlertSettings(database: Queryable): Promise<AlertSettings> {
  const [row] = await database.query<{ kinds: StoredKinds; recipients: string[] }>(
    'select kinds, recipients from alert_settings',
  )
  return { kinds: withDefaults(row?.kinds ?? {}), recipients: row?.recipients ?? [] }
}

function withDefaults(stored: StoredKinds): AlertSettings['kinds'] {
  const entries = alertKinds.map((kind): [AlertKind, KindSettings] => {
    const { enabled = true, threshold } = stored[kind] ?? {}
    // null: stored before the kind had one.
    return [kind, { enabled, threshold: threshold ?? alertThresholds[kind].default }]
  })
  return Object.fromEntries(entries) as AlertSettings['kinds']
}

export interface AlertAuthor {
  actor: Actor
  atMs: number
  /** Compares the stored state with the version that the author has read; may throw. */
  check: (settings: AlertSettings, webhook: StoredWebhook | undefined) => void
}

/** The change and its entry in the admin log, in one transaction. */
export function saveAlertSettings(
  database: OwnedDatabase,
  change: (settings: AlertSettings) => AlertSettings,
  { actor, atMs, check }: AlertAuthor,
): Promise<AlertSettings> {
  return database.transaction(async (transaction) => {
    const before = await lockSettings(transaction, check)
    const after = change(before.settings)
    await transaction.execute('update alert_settings set kinds = $1::jsonb, recipients = $2', [
      JSON.stringify(after.kinds),
      after.recipients,
    ])
    await recordAdminChange(transaction, {
      actor,
      atMs,
      action: 'alert_settings.updated',
      subjectType: 'alert_settings',
      subjectId: 'only',
      organisationId: null,
      before: { ...before.settings },
      after: { ...after },
    })
    return after
  })
}

/** Settings and webhook have one version, so they have one lock. */
async function lockSettings(transaction: Queryable, check: AlertAuthor['check']) {
  await transaction.query('select from alert_settings for update')
  const settings = await loadAlertSettings(transaction)
  const found = await loadAlertWebhook(transaction)
  check(settings, found)
  return { settings, webhook: found }
}

export interface StoredWebhook {
  url: string
  secretSealed: string
}

export async function loadAlertWebhook(database: Queryable): Promise<StoredWebhook | undefined> {
  const [row] = await database.query<StoredWebhook>(
    'select url, secret_sealed as "secretSealed" from alert_channels where id = $1',
    [webhook],
  )
  return row
}

/** null removes it. The admin log has only the origin of the address: its path may be a secret. */
export function saveAlertWebhook(
  database: OwnedDatabase,
  next: StoredWebhook | null,
  { actor, atMs, check }: AlertAuthor,
): Promise<void> {
  return database.transaction(async (transaction) => {
    const { webhook: before } = await lockSettings(transaction, check)
    if (next === null) await transaction.execute('delete from alert_channels where id = $1', [webhook])
    else {
      await transaction.execute(
        `insert into alert_channels (id, url, secret_sealed) values ($1, $2, $3)
         on conflict (id) do update set url = excluded.url, secret_sealed = excluded.secret_sealed`,
        [webhook, next.url, next.secretSealed],
      )
    }
    await recordAdminChange(transaction, {
      actor,
      atMs,
      action: 'alert_settings.updated',
      subjectType: 'alert_settings',
      subjectId: webhook,
      organisationId: null,
      before: before ? { origin: new URL(before.url).origin } : null,
      after: next ? { origin: new URL(next.url).origin } : null,
    })
  })
}

/** What `alertSecretsColumn` binds the webhook's secret to. */
export const webhookSecretContext: string = alertSecretsColumn.contextOf(webhook)
