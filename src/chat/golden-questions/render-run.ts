import type { GoldenResultBody, GoldenRunBody } from '../../contract/golden-runs.ts'
import { formatPicoUsd } from '../../platform/kernel/index.ts'
import type { GoldenResult } from './golden-results.store.ts'
import type { GoldenRun } from './golden-run.ts'
import type { RunCounts } from './golden-runs.store.ts'

export function renderRun(run: GoldenRun, counts: RunCounts, isCurrent: boolean): GoldenRunBody {
  const { comparison, costPicoUsd, ...questions } = counts
  const { id, spaceId, state, reason, trigger, startedBy, space, settings, measures } = run
  return {
    id,
    spaceId,
    state,
    reason,
    trigger,
    startedBy,
    createdAt: new Date(run.createdAt).toISOString(),
    startedAt: timeOf(run.startedAt),
    endedAt: timeOf(run.endedAt),
    model: space.model,
    agentic: settings.agentic,
    maximumCostUsd: settings.maximumCostUsd,
    costUsd: formatPicoUsd(costPicoUsd),
    questions,
    measures,
    isCurrent,
    comparison,
  }
}

const timeOf = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString())

export function renderResult(result: GoldenResult): GoldenResultBody {
  const { questionId, content, outcome, previous, error, answer, detail, costPicoUsd, requestId } = result
  const retrieved = detail?.retrieved ?? []
  const cited = detail?.cited ?? []
  return {
    questionId,
    messages: content.messages,
    mustAbstain: content.mustAbstain,
    outcome,
    failedMeasures: detail?.failedMeasures ?? [],
    error,
    previous,
    answer,
    expectedDocuments: content.expectedDocuments.map(({ id, name }) => {
      const index = retrieved.findIndex((document) => document.id === id)
      return { id, name, rank: index < 0 ? null : index + 1, isCited: cited.some((document) => document.id === id) }
    }),
    expectedFacts: content.expectedFacts.map((text, index) => ({ text, isFound: detail?.facts[index] ?? false })),
    retrievedDocuments: retrieved,
    citedDocuments: cited,
    measures: detail?.measures ?? null,
    costUsd: formatPicoUsd(costPicoUsd),
    requestId,
  }
}
