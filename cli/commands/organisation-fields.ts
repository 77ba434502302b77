import type { OrganisationBody } from '../../src/contract/operator.ts'
import { type CliCommand, parseWhole } from '../define.ts'
import { UsageError } from '../errors.ts'
import type { Output } from '../output.ts'

/** The fields of an organisation: as options, as a request body, and printed. */
export interface OrganisationOptions {
  name?: string
  plan?: string
  budget?: string
  markup?: string
  timeZone?: string
  anchorDay?: number
  subscription?: string
  startsAt?: string
  endsAt?: string
  concurrentCalls?: number
  requestsPerMinute?: string
  tokensPerMinute?: string
  concurrentUploads?: number
}

export function withFields(command: CliCommand): CliCommand {
  return command
    .option('--plan <plan>', 'free, team or enterprise; the gateway needs enterprise')
    .option('--budget <usd>', 'monthly budget in US dollars, exact: 50.00')
    .option('--markup <percent>', 'added to the base cost: 12.5')
    .option('--time-zone <zone>', "IANA zone of the budget's month: Europe/Berlin")
    .option('--anchor-day <day>', 'day of the month, 1 to 28, on which the budget renews', parseWhole)
    .option('--concurrent-calls <count>', 'completions and chats at the same time', parseWhole)
    .option('--requests-per-minute <count>', 'completions and chats a minute, or none')
    .option('--tokens-per-minute <count>', 'tokens of prompts and answers a minute, or none')
    .option('--concurrent-uploads <count>', 'uploads at the same time', parseWhole)
    .option('--subscription <status>', 'active or cancelled (at once, or at --ends-at)')
    .option('--starts-at <time>', 'first moment of the subscription, ISO 8601')
    .option('--ends-at <time>', 'end of the subscription, ISO 8601, or none')
}

export function toBody(options: OrganisationOptions): Record<string, unknown> {
  const { subscription: status, startsAt, endsAt, concurrentCalls, concurrentUploads } = options
  const limits = {
    concurrentCalls,
    requestsPerMinute: parseWholeOrNone('--requests-per-minute', options.requestsPerMinute),
    tokensPerMinute: parseWholeOrNone('--tokens-per-minute', options.tokensPerMinute),
    concurrentUploads,
  }
  const hasSubscription = [status, startsAt, endsAt].some((value) => value !== undefined)
  return {
    plan: options.plan,
    monthlyBudgetUsd: options.budget,
    markupPercent: options.markup,
    timeZone: options.timeZone,
    periodAnchorDay: options.anchorDay,
    subscription: hasSubscription ? { status, startsAt, endsAt: endsAt === 'none' ? null : endsAt } : undefined,
    limits: Object.values(limits).some((value) => value !== undefined) ? limits : undefined,
  }
}

function parseWholeOrNone(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined
  if (text === 'none') return null
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${option} must be a whole number or none.`)
  return Number(text)
}

export function printOrganisation(output: Output, organisation: OrganisationBody) {
  const { subscription, apiKey } = organisation
  output.fields([
    ['id', organisation.id],
    ['name', organisation.name],
    ['plan', organisation.plan],
    ['subscription', `${subscription.status}, ${subscription.active ? 'in force' : 'not in force'}`],
    ['  from', subscription.startsAt],
    ['  to', subscription.endsAt ?? 'open end'],
    ['enabled by operator', organisation.gatewayEnabled],
    ['opted in', organisation.gatewayOptIn],
    ['monthly budget USD', organisation.monthlyBudgetUsd],
    ['markup %', organisation.markupPercent],
    ['budget renews on day', `${organisation.periodAnchorDay} (${organisation.timeZone})`],
    ['concurrent calls', organisation.limits.concurrentCalls],
    ['requests a minute', organisation.limits.requestsPerMinute ?? 'no limit'],
    ['tokens a minute', organisation.limits.tokensPerMinute ?? 'no limit'],
    ['concurrent uploads', organisation.limits.concurrentUploads],
    ['disabled models', organisation.disabledModels.join(', ') || 'none'],
    ['webhook', organisation.webhookUrl ?? 'none'],
    ['API key', apiKey ? `${apiKey.prefix}…${apiKey.lastFour} since ${apiKey.createdAt}` : 'none'],
    ['  created by', apiKey?.createdBy ?? 'unknown'],
    ['  last used', apiKey?.lastUsedAt ?? 'never'],
    ['created', organisation.createdAt],
  ])
}
