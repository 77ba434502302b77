import { type ImportPlan, type Report, createReport } from './import-plan.ts'
import { type LitellmConfig, type LitellmTeam, teamsOfConfig } from './litellm-config.ts'
import { planModels } from './plan-models.ts'
import { planTeams } from './plan-teams.ts'
import { createSecretReader } from './read-values.ts'

export interface PlanOptions {
  environment: Record<string, string | undefined>
  /** Hosting by provider id. */
  hosting: ReadonlyMap<string, string>
  defaultBudget: string
}

const sections = [
  'model_list',
  'router_settings',
  'litellm_settings',
  'general_settings',
  'environment_variables',
  'credential_list',
]

/** What the service shall have after the import, and what cannot be imported. Reads no service and changes nothing. */
export function planImport(config: LitellmConfig, teams: readonly LitellmTeam[], options: PlanOptions): ImportPlan {
  const report = createReport()
  const secrets = createSecretReader(options.environment, config.environment_variables ?? {}, report)
  const models = planModels(config, { secrets, report, hosting: options.hosting })
  for (const id of options.hosting.keys())
    if (models.providers.every((one) => one.id !== id))
      report.skipped(`--hosting ${id}`, 'The import has no provider with this id.')
  const organisations = planTeams([...teams, ...teamsOfConfig(config)], {
    defaultBudget: options.defaultBudget,
    report,
  })
  reportSettings(config, report)
  return { ...models, organisations, report }
}

const explanations: Readonly<Record<string, string>> = {
  'router_settings.fallbacks': fallback(),
  'litellm_settings.fallbacks': fallback(),
  'litellm_settings.default_fallbacks': fallback(),
  'litellm_settings.context_window_fallbacks': fallback(),
  'litellm_settings.content_policy_fallbacks': fallback(),
  'router_settings.context_window_fallbacks': fallback(),
  'router_settings.num_retries': retries(),
  'litellm_settings.num_retries': retries(),
  'router_settings.allowed_fails': retries(),
  'router_settings.cooldown_time': retries(),
  'litellm_settings.allowed_fails': retries(),
  'litellm_settings.request_timeout': 'Time limits belong to a provider: change them there.',
  'router_settings.timeout': 'Time limits belong to a provider: change them there.',
  'litellm_settings.max_budget': 'There is no budget of the whole service; each organisation has one.',
  'litellm_settings.budget_duration': 'There is no budget of the whole service; each organisation has one.',
  'litellm_settings.drop_params': 'Portico removes or rejects a parameter by the rules of each model.',
  'general_settings.master_key': 'The operator token of Portico replaces it.',
  'general_settings.database_url': 'Portico has its own database.',
}

function fallback(): string {
  return 'Portico repeats a call at other deployments of the same model, never with another model. Add a second deployment.'
}

function retries(): string {
  return 'Portico repeats calls and pauses deployments by its own rules.'
}

/** Fields of these sections that the import reads. */
const readSettings: ReadonlySet<string> = new Set([
  'router_settings.model_group_alias',
  'litellm_settings.default_team_settings',
])

function reportSettings(config: LitellmConfig, report: Report): void {
  for (const section of ['router_settings', 'litellm_settings', 'general_settings'] as const)
    for (const name of Object.keys(config[section] ?? {})) {
      const setting = `${section}.${name}`
      if (!readSettings.has(setting)) report.noEqual(setting, explanations[setting] ?? strategy(config, setting))
    }
  for (const name of Object.keys(config)) if (!sections.includes(name)) report.noEqual(name, 'Not imported.')
}

function strategy(config: LitellmConfig, setting: string): string {
  const isShuffle = config.router_settings?.routing_strategy === 'simple-shuffle'
  if (setting !== 'router_settings.routing_strategy') return 'Not imported.'
  return isShuffle
    ? 'Portico divides calls by weight, too.'
    : 'Portico divides calls by weight, and avoids deployments that fail.'
}
