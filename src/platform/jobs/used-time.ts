import type { Clock } from '../kernel/index.ts'

/** What an organisation has used counts half after this time, and hardly at all after ten times as long. */
const halfLifeMs = 60_000
const maximumOrganisations = 10_000
/** Less is forgotten first. */
const negligibleMs = 1_000
/**
 * An organisation with this much less used time than another one need not wait for a whole slice of its work. Used times are compared in steps
 * of it: a smaller difference gives nobody precedence, so that many small jobs of an organisation do not delay one of another that has
 * used a little.
 */
export const clearlyLessMs = 10_000

interface Used {
  ms: number
  atMs: number
  /** When its running jobs have begun. */
  runs: Set<number>
}

export type UsedTime = ReturnType<typeof createUsedTime>

/** The time for which an organisation's jobs have lately run on this instance, those that run now included. */
export function createUsedTime(clock: Pick<Clock, 'monotonicMs'>) {
  const organisations = new Map<string, Used>()

  function ended({ ms, atMs }: Used, nowMs: number): number {
    return ms * 0.5 ** ((nowMs - atMs) / halfLifeMs)
  }

  function of(organisationId: string): number {
    const used = organisations.get(organisationId)
    if (!used) return 0
    const nowMs = clock.monotonicMs()
    let sum = ended(used, nowMs)
    for (const begunMs of used.runs) sum += nowMs - begunMs
    return sum
  }

  function forget() {
    const nowMs = clock.monotonicMs()
    for (const [id, used] of organisations)
      if (used.runs.size === 0 && ended(used, nowMs) < negligibleMs) organisations.delete(id)
    for (const [id, used] of organisations) {
      if (organisations.size < maximumOrganisations) return
      if (used.runs.size === 0) organisations.delete(id)
    }
  }

  return {
    of,
    /** Counts a run from now on; call the result at its end. */
    begin(organisationId: string): () => void {
      if (organisations.size >= maximumOrganisations) forget()
      const used = organisations.get(organisationId) ?? { ms: 0, atMs: 0, runs: new Set<number>() }
      organisations.set(organisationId, used)
      // Two runs that begin at once are two entries.
      let begunMs = clock.monotonicMs()
      while (used.runs.has(begunMs)) begunMs += 0.001
      used.runs.add(begunMs)
      return () => {
        if (!used.runs.delete(begunMs)) return
        const nowMs = clock.monotonicMs()
        used.ms = ended(used, nowMs) + Math.max(0, nowMs - begunMs)
        used.atMs = nowMs
      }
    },
    /** The first of the organisations with the fewest steps of used time; undefined where there is none. */
    least(organisationIds: readonly string[]): string | undefined {
      const steps = organisationIds.map((id) => Math.floor(of(id) / clearlyLessMs))
      return organisationIds[steps.indexOf(Math.min(...steps))]
    },
  }
}
