import type { Database } from '../../../platform/database/index.ts'
import { loadVectorCheck, type VectorCheck } from '../corpus/vector-checks.store.ts'
import type { QueryVector, SpaceScope } from '../engine.ts'

/** The share of the vectors in the fused score, 0..1, and why. */
export interface VectorShare {
  weight: number
  /**
   * `given`: of the caller. `spelling`: of the built-in embedder. `start`: the Space has too few passages to choose, or no choice yet.
   * `checked`: chosen by questions made from the Space.
   */
  origin: 'given' | 'spelling' | 'start' | 'checked'
  /** Where it is `checked`. */
  check: VectorCheck | null
}

const spellingWeight = 0.03
/** Lower than what is best for good models: of a weak one, it costs little. */
const startWeight = 0.2
/** How long a choice is kept in memory: another instance may have made a new one. */
const keptMs = 60_000
const maximumKept = 1_000

/** Reads the choices of `checkDueSpaces`, each at most once a minute. */
export function createVectorShares(database: Database, { nowMs = () => performance.now() } = {}) {
  const kept = new Map<string, { check: VectorCheck | null; readMs: number }>()

  async function load(scope: SpaceScope, versionId: number, signal: AbortSignal): Promise<VectorCheck | null> {
    const key = `${scope.organisationId} ${scope.spaceId} ${versionId}`
    const known = kept.get(key)
    if (known && nowMs() - known.readMs < keptMs) return known.check
    const check = await loadVectorCheck(database, scope, versionId, signal)
    kept.delete(key)
    kept.set(key, { check, readMs: nowMs() })
    for (const oldest of kept.keys()) {
      if (kept.size <= maximumKept) break
      kept.delete(oldest)
    }
    return check
  }

  return {
    /** By the first vector: that of the version which answers searches, or of the one being built where the other is not available. */
    async of(scope: SpaceScope, vectors: readonly QueryVector[], signal: AbortSignal): Promise<VectorShare> {
      const [first] = vectors
      if (!first?.hasSemantics) return { weight: spellingWeight, origin: 'spelling', check: null }
      const check = await load(scope, first.version.id, signal)
      const weight = check?.weight ?? null
      return weight === null
        ? { weight: startWeight, origin: 'start', check: null }
        : { weight, origin: 'checked', check }
    },
  }
}
