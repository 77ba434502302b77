import type { PutDeployment, PutModel, PutProvider, StatedPricesBody } from '../../src/contract/models.ts'

/** What the import will create. It contains secrets: only `apply-plan.ts` reads them, and nothing prints them. */
export interface ImportPlan {
  providers: PlannedProvider[]
  models: PlannedModel[]
  deployments: PlannedDeployment[]
  organisations: PlannedOrganisation[]
  report: Report
}

export interface PlannedProvider {
  id: string
  declaration: Partial<PutProvider>
  secrets: { apiKey?: string; credentials?: string; headers?: Record<string, string> }
}

export interface PlannedModel {
  id: string
  facts: PutModel
}

export interface PlannedDeployment {
  id: string
  body: PutDeployment & { model: string; provider: string }
  prices?: StatedPricesBody
}

export interface PlannedOrganisation {
  name: string
  monthlyBudgetUsd: string
  gatewayEnabled: boolean
  limits: { requestsPerMinute?: number; tokensPerMinute?: number; concurrentCalls?: number }
  /** The models that the team may call; undefined: all. */
  models?: string[]
}

/** What has no equal, or another meaning. `setting` is its place in the file, never its value. */
export interface Remark {
  kind: 'no-equal' | 'differs' | 'skipped'
  setting: string
  text: string
}

export interface Report {
  remarks: Remark[]
  noEqual(setting: string, text: string): void
  differs(setting: string, text: string): void
  skipped(setting: string, text: string): void
}

export function createReport(): Report {
  const remarks: Remark[] = []
  const add = (kind: Remark['kind']) => (setting: string, text: string) => {
    if (remarks.every((one) => one.setting !== setting || one.text !== text)) remarks.push({ kind, setting, text })
  }
  return { remarks, noEqual: add('no-equal'), differs: add('differs'), skipped: add('skipped') }
}
