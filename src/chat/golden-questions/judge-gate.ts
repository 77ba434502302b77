import type { GoldenRunMeasures, PublicationGateBody } from '../../contract/golden-runs.ts'
import { gateMeasures, type GoldenSettingsBody } from '../../contract/golden-settings.ts'

type Gate = NonNullable<GoldenSettingsBody['gate']>

/** The completed run of the current configuration; undefined if there is none. */
type GateRun = { id: string; measures: GoldenRunMeasures | null; errors: number } | undefined

/** Compares a run with the minimums of a gate. A measure that the run does not have fails. */
export function judgeGate(gate: Gate, run: GateRun): PublicationGateBody {
  const measures = gateMeasures.flatMap((measure) => {
    const minimum = gate[measure]
    if (minimum === undefined) return []
    const value = run?.measures?.[measure] ?? null
    return [{ measure, value, minimum, isPassed: value !== null && value >= minimum }]
  })
  const problem = problemOf(run, measures)
  return { isPassed: problem === null, problem, runId: run?.id ?? null, measures }
}

function problemOf(run: GateRun, measures: PublicationGateBody['measures']): string | null {
  if (!run) {
    return 'There is no completed run of the golden questions with the current instructions, model, settings, documents and questions. Start one.'
  }
  if (run.errors > 0) return `${run.errors} golden questions have no answer in the run ${run.id}. Start another one.`
  const missed = measures.filter(({ isPassed }) => !isPassed)
  if (missed.length === 0) return null
  const texts = missed.map(({ measure, value, minimum }) =>
    value === null
      ? `\`${measure}\` has no value and must be at least ${minimum}`
      : `\`${measure}\` is ${value} and must be at least ${minimum}`,
  )
  return `The golden questions did not pass in the run ${run.id}: ${texts.join('; ')}.`
}
