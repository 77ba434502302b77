import type { AlertBody, AlertChannel } from '../../contract/alerts.ts'
import { createUuid } from '../../platform/kernel/index.ts'
import type { Alert, AlertEvent, NewDelivery } from './port.ts'

/** The messages about alerts. Pure, but for new ids. */

export function renderAlert({ raisedAt, resolvedAt, ...alert }: Alert): AlertBody {
  return { ...alert, raisedAt: raisedAt.toISOString(), resolvedAt: resolvedAt?.toISOString() ?? null }
}

interface MessageContext {
  channels: readonly AlertChannel[]
  /** Address of the console's page of alerts; undefined: the service does not know its address. */
  pageUrl: string | undefined
  nowMs: number
}

export function messagesOfAlert(event: AlertEvent, alert: Alert, context: MessageContext): NewDelivery[] {
  const subject = `${labels[event]}: ${alert.title}`
  return context.channels.map((channel) => ({
    id: createUuid(context.nowMs),
    alertId: alert.id,
    event,
    channel,
    subject,
    body: channel === 'webhook' ? renderEvent(event, renderAlert(alert), context.nowMs) : renderMail(alert, context),
  }))
}

export function testMessage(channel: AlertChannel, { pageUrl, nowMs }: Omit<MessageContext, 'channels'>): NewDelivery {
  const title = 'This is a test of the alerts of Portico.'
  return {
    id: createUuid(nowMs),
    alertId: null,
    event: 'alert.test',
    channel,
    subject: `${labels['alert.test']}: ${title}`,
    body:
      channel === 'webhook'
        ? renderEvent('alert.test', { title }, nowMs)
        : `${title}\n${pageUrl === undefined ? '' : `\n${pageUrl}\n`}`,
  }
}

const labels: Record<AlertEvent, string> = {
  'alert.raised': 'Alert',
  'alert.resolved': 'Resolved',
  'alert.test': 'Test',
}

/** The form of Standard Webhooks: type, time and data. */
function renderEvent(type: AlertEvent, data: object, nowMs: number): string {
  return JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data })
}

function renderMail(
  { title, severity, kind, raisedAt, resolvedAt, details }: Alert,
  { pageUrl }: MessageContext,
): string {
  const lines = [
    title,
    '',
    `Kind: ${kind}`,
    `Severity: ${severity}`,
    `Raised: ${raisedAt.toISOString()}`,
    ...(resolvedAt ? [`Resolved: ${resolvedAt.toISOString()}`] : []),
    ...Object.entries(details).map(([name, value]) => `${name}: ${value}`),
    ...(pageUrl === undefined ? [] : ['', pageUrl]),
  ]
  return `${lines.join('\n')}\n`
}
