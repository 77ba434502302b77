import type { NewTurn } from './turn.ts'

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
