import type { Log } from '../../platform/kernel/index.ts'
import type { NewTurn } from './turn.ts'
import type { WriteFailure } from './write-turns.store.ts'

/** Of turns that wait to be written: for a lost database, and for floods. */
const maximumWaitingBytes = 64 * 1024 ** 2
/** One transaction, for which other statements of the embedded engine wait. */
const mostOfBatch = { turns: 20, bytes: 1024 ** 2 }

export interface TurnWriterDependencies {
  /** Receives turns of one Space. Resolves to the reason where they are not stored. */
  write: (spaceId: string, turns: readonly NewTurn[]) => Promise<WriteFailure | undefined>
  log: Log
}

/** Holds turns in memory until `write` has stored them. Organisations take turns. */
export function createTurnWriter({ write, log }: TurnWriterDependencies) {
  const waiting = createWaitingTurns(maximumWaitingBytes)
  /** Organisations whose batches have one turn, after a failure: this finds the turn that cannot be stored. */
  const single = new Set<string>()
  let dropped = 0
  let writing = Promise.resolve()

  async function writeWaiting() {
    if (dropped > 0) log.warn({ answers: dropped }, 'answers were not stored: too many are waiting')
    dropped = 0
    const failed = new Set<string>()
    for (let organisations = waiting.organisations(); organisations.length > 0;) {
      for (const organisationId of organisations) {
        const outcome = await writeBatch(organisationId)
        if (outcome === 'unavailable') return
        if (outcome === 'failed') failed.add(organisationId)
      }
      organisations = waiting.organisations().filter((organisationId) => !failed.has(organisationId))
    }
  }

  async function writeBatch(organisationId: string): Promise<'written' | 'failed' | 'unavailable'> {
    const most = single.has(organisationId) ? { ...mostOfBatch, turns: 1 } : mostOfBatch
    const turns = waiting.next(organisationId, most)
    const failure = await write(turns[0]!.spaceId, turns)
    if (failure) return afterFailure(organisationId, turns, failure)
    waiting.remove(organisationId, turns)
    if (!waiting.has(organisationId)) single.delete(organisationId)
    return 'written'
  }

  /** The turns stay, unless one of them alone is the cause. */
  function afterFailure(
    organisationId: string,
    turns: readonly NewTurn[],
    { reason, isUnavailable }: WriteFailure,
  ): 'failed' | 'unavailable' {
    if (isUnavailable) {
      log.warn({ reason }, 'conversations could not be stored; retrying')
      return 'unavailable'
    }
    if (turns.length === 1) {
      log.error({ reason, requestId: turns[0]!.requestId }, 'an answer could not be stored')
      waiting.remove(organisationId, turns)
    }
    single.add(organisationId)
    return 'failed'
  }

  return {
    /** May drop turns to stay within the bounds; the next `flush` logs how many. */
    add(turn: NewTurn): void {
      dropped += waiting.add(turn)
    },
    /** Writes what waits. Never rejects. */
    flush: (): Promise<void> => (writing = writing.then(writeWaiting)),
  }
}

interface Line {
  bytes: number
  turns: NewTurn[]
}

const bytesOf = ({ bytes, givenBytes }: NewTurn) => bytes + givenBytes

/**
 * Turns that wait to be written, in the order of their arrival, bounded in bytes. One organisation may use half of `maximumBytes`. When all is used, the organisation with the most bytes loses its newest turn, so that
 * a flood of one costs no other its turns.
 */
export function createWaitingTurns(maximumBytes: number) {
  const lines = new Map<string, Line>()
  let total = 0

  function change(organisationId: string, line: Line, bytes: number) {
    line.bytes += bytes
    total += bytes
    if (line.turns.length === 0) lines.delete(organisationId)
  }

  function shrink() {
    let dropped = 0
    for (;;) {
      const largest = [...lines].reduce<[string, Line] | undefined>(
        (most, entry) => (most && most[1].bytes >= entry[1].bytes ? most : entry),
        undefined,
      )
      if (!largest || (total <= maximumBytes && largest[1].bytes <= maximumBytes / 2)) return dropped
      change(...largest, -bytesOf(largest[1].turns.pop()!))
      dropped++
    }
  }

  return {
    bytes: () => total,
    organisations: () => [...lines.keys()],
    has: (organisationId: string) => lines.has(organisationId),
    /** Returns how many turns were dropped for the bounds. */
    add(turn: NewTurn): number {
      const line = lines.get(turn.organisationId) ?? { bytes: 0, turns: [] }
      lines.set(turn.organisationId, line)
      line.turns.push(turn)
      change(turn.organisationId, line, bytesOf(turn))
      return total > maximumBytes || line.bytes > maximumBytes / 2 ? shrink() : 0
    },
    /** The oldest turns of one Space: of the one whose turn has waited longest. They stay until `remove`. */
    next(organisationId: string, most: { turns: number; bytes: number }): NewTurn[] {
      const turns = lines.get(organisationId)?.turns ?? []
      const chosen: NewTurn[] = []
      let bytes = 0
      for (const turn of turns) {
        if (turn.spaceId !== turns[0]!.spaceId) continue
        bytes += bytesOf(turn)
        if (chosen.length === most.turns || (chosen.length > 0 && bytes > most.bytes)) break
        chosen.push(turn)
      }
      return chosen
    },
    remove(organisationId: string, removed: readonly NewTurn[]): void {
      const line = lines.get(organisationId)
      if (!line) return
      const gone = new Set(removed)
      const kept = line.turns.filter((turn) => !gone.has(turn))
      const bytes = line.turns.reduce((sum, turn) => sum + (gone.has(turn) ? bytesOf(turn) : 0), 0)
      line.turns = kept
      change(organisationId, line, -bytes)
    },
  }
}
