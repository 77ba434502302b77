import type { AlertChannel, AlertKind } from '../../contract/alerts.ts'

/** What is wrong now, as a source reports it. */
export interface AlertCondition {
  /** Unique among the conditions of its kind, and the same as long as it is the same problem. */
  subject: string
  /** Administrators of this organisation see the alert as well. */
  organisationId?: string | undefined
  severity: 'warning' | 'critical'
  /** One English sentence, for webhooks and e-mails. */
  title: string
  /** The figures of the sentence, for the console. Without secrets and texts of clients. */
  details: Readonly<Record<string, string | number>>
}

/** Finds the conditions of one kind with its threshold. All conditions that are not found are over, so a source that cannot find out rejects. */
export type AlertSource = (threshold: number) => Promise<AlertCondition[]>

export type AlertSources = Readonly<Record<AlertKind, AlertSource>>

export interface Alert extends Omit<AlertCondition, 'organisationId'> {
  id: string
  kind: AlertKind
  organisationId: string | null
  raisedAt: Date
  /** null: open. */
  resolvedAt: Date | null
}

export type AlertEvent = 'alert.raised' | 'alert.resolved' | 'alert.test'

/** What a kind is set to. */
export interface KindSettings {
  enabled: boolean
  threshold: number
}

export interface AlertSettings {
  kinds: Record<AlertKind, KindSettings>
  recipients: string[]
}

/** A message about an alert. */
export interface NewDelivery {
  id: string
  /** null: a test. */
  alertId: string | null
  event: AlertEvent
  channel: AlertChannel
  /** The title; the subject of an e-mail. */
  subject: string
  /** The JSON text as it is signed and sent, or the text of an e-mail. */
  body: string
}

export interface Delivery extends NewDelivery {
  /** Failed attempts so far. */
  attempts: number
}

export interface StoredDelivery extends Omit<Delivery, 'body'> {
  createdAt: Date
  nextAttemptAt: Date
  finishedAt: Date | null
  failure: string | null
}
