import type { PlannedOrganisation, Report } from './import-plan.ts'
import type { LitellmTeam } from './litellm-config.ts'

export interface TeamOptions {
  /** Budget in US dollars of teams that have none that renews. */
  defaultBudget: string
  report: Report
}

const secondsPerDay = 86_400
/** Portico's budgets renew each month; a shorter period is scaled to this many days. */
const daysPerMonth = 30

/** Teams as organisations. A name that several teams have is imported once. */
export function planTeams(teams: readonly LitellmTeam[], options: TeamOptions): PlannedOrganisation[] {
  const planned = new Map<string, PlannedOrganisation>()
  for (const team of teams) {
    const name = team.team_alias?.trim() || team.team_id
    const setting = `team ${name}`
    if (planned.has(name)) {
      options.report.skipped(setting, 'Another team has the same name.')
      continue
    }
    planned.set(name, {
      name,
      monthlyBudgetUsd: budgetOf(team, setting, options),
      gatewayEnabled: team.blocked !== true,
      limits: limitsOf(team),
      ...(namesModels(team.models) ? { models: team.models! } : {}),
    })
    reportTeam(team, setting, options.report)
  }
  return [...planned.values()]
}

function reportTeam(team: LitellmTeam, setting: string, report: Report): void {
  if (limitsOf(team).requestsPerMinute !== undefined || limitsOf(team).tokensPerMinute !== undefined)
    report.differs(`${setting}: limits per minute`, 'Portico counts them on each instance.')
  if (namesModels(team.models))
    report.differs(`${setting}: models`, 'The other models are disabled for it; models that you add later are not.')
  const members = team.members_with_roles
  if (Array.isArray(members) && members.length > 0)
    report.noEqual(`${setting}: members`, `Invite its ${members.length} members in the console.`)
  for (const name of Object.keys(team))
    if (/callback|langfuse|guardrail/.test(name) && team[name]) report.noEqual(`${setting}: ${name}`, 'Not imported.')
}

function limitsOf(team: LitellmTeam): PlannedOrganisation['limits'] {
  const whole = (value: number | null | undefined) =>
    value !== null && value !== undefined && value >= 1 ? Math.trunc(value) : undefined
  const limits = {
    requestsPerMinute: whole(team.rpm_limit),
    tokensPerMinute: whole(team.tpm_limit),
    concurrentCalls: whole(team.max_parallel_requests),
  }
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}

/** An empty list and these names mean all models in LiteLLM. */
function namesModels(models: readonly string[] | null | undefined): boolean {
  return (models ?? []).length > 0 && !models!.some((name) => name === 'all-proxy-models' || name === '*')
}

/** A monthly budget, in dollars with two decimals, rounded down. */
function budgetOf(team: LitellmTeam, setting: string, { defaultBudget, report }: TeamOptions): string {
  const { max_budget: budget, budget_duration: duration } = team
  const place = `${setting}: budget`
  if (budget === null || budget === undefined) {
    report.noEqual(place, `Every organisation has a monthly budget; this one gets ${defaultBudget} US dollars.`)
    return defaultBudget
  }
  const days = daysOf(duration)
  if (days === undefined) {
    report.noEqual(
      place,
      `A budget of ${budget} US dollars that never renews; this organisation gets ${defaultBudget} US dollars a month.`,
    )
    return defaultBudget
  }
  if (days === 'month') return toDollars(budget)
  const monthly = toDollars((budget * daysPerMonth) / days)
  if (days !== daysPerMonth)
    report.differs(
      place,
      `${budget} US dollars in ${duration} became ${monthly} US dollars a month, without a limit in between.`,
    )
  else report.differs(place, 'It renews on the first day of each month instead of every 30 days.')
  return monthly
}

/** `30d`, `24h`, `60m`, `3600s`, `1w`, `1mo`. undefined: the budget never renews. */
function daysOf(duration: string | null | undefined): number | 'month' | undefined {
  const [, count, unit] = /^(\d{1,6})(mo|[smhdw])$/.exec(duration ?? '') ?? []
  if (count === undefined || Number(count) === 0) return undefined
  if (unit === 'mo') return Number(count) === 1 ? 'month' : Number(count) * daysPerMonth
  const seconds = { s: 1, m: 60, h: 3600, d: secondsPerDay, w: 7 * secondsPerDay }[unit as 's' | 'm' | 'h' | 'd' | 'w']
  return (Number(count) * seconds) / secondsPerDay
}

function toDollars(amount: number): string {
  // The small share repairs products such as 0.29 * 100 = 28.999….
  return (Math.floor(amount * 100 + 1e-6) / 100).toFixed(2)
}
