import { parseJson } from '../wire-json.ts'

/** One tool call of a stream, as far as it was received. */
interface StreamedCall {
  wireIndex: unknown
  id: string
  name: string
  /** Received in the chunk that is being read. */
  chunk: number
  pieces: ArgumentPieces
}

/** What one piece of a call adds. */
interface CallPiece {
  index: number
  isNew: boolean
  argumentsDelta: string
}

/**
 * Puts the pieces of the calls of one answer together. Pieces of one call share an index. Hosts deviate: no index, or the same for every call
 * (then the id, or the name after complete arguments, begins a new call), and arguments that repeat what came before.
 */
export function createStreamedCalls() {
  const calls: StreamedCall[] = []
  let chunk = 0

  function findIndex(piece: { wireIndex: unknown; id: string; name: string; text: string }): number {
    const index = calls.findLastIndex((known) => known.wireIndex === piece.wireIndex)
    const known = calls[index]
    if (!known) return -1
    if (piece.id !== '' && known.id !== '') return piece.id === known.id ? index : -1
    // Without ids: a second call in the same chunk, or after the arguments of the first were complete.
    if (piece.name === '') return index
    if (known.chunk === chunk || piece.name !== known.name) return -1
    return known.pieces.isComplete() && piece.text !== known.pieces.text() && piece.text !== '' ? -1 : index
  }

  return {
    count: () => calls.length,
    /** Begins the next chunk. */
    nextChunk: () => void chunk++,
    take(piece: { wireIndex: unknown; id: string; name: string; text: string }): CallPiece {
      let index = findIndex(piece)
      const isNew = index === -1
      if (isNew) {
        const { wireIndex, id, name } = piece
        index = calls.push({ wireIndex, id, name, chunk, pieces: createArgumentPieces() }) - 1
      }
      const call = calls[index]!
      call.chunk = chunk
      call.id ||= piece.id
      call.name ||= piece.name
      return { index, isNew, argumentsDelta: call.pieces.take(piece.text) }
    },
    /** What was held back, by the index of the call. */
    end: (): CallPiece[] =>
      calls.flatMap(({ pieces }, index) => {
        const argumentsDelta = pieces.end()
        return argumentsDelta === '' ? [] : [{ index, isNew: false, argumentsDelta }]
      }),
  }
}

type ArgumentPieces = ReturnType<typeof createArgumentPieces>

/**
 * Arguments from pieces that usually follow one another. Some hosts send all that there is so far in each piece, or everything once more at the
 * end, or `{}` before the first piece. A piece that begins with everything received is held back until the end shows which it was: only
 * one of the readings is JSON.
 */
export function createArgumentPieces() {
  let sent = ''
  /** Pieces since the first that was in doubt. */
  let held: string[] = []

  const isDoubtful = (piece: string) => {
    if (sent === '') return piece === '{}'
    // The lengths decide first: the comparison takes as long as the text.
    return piece.length >= sent.length && piece.charCodeAt(0) === sent.charCodeAt(0) && piece.startsWith(sent)
  }

  return {
    /** The text to pass on. */
    take(piece: string): string {
      if (piece === '') return ''
      if (held.length > 0 || isDoubtful(piece)) {
        held.push(piece)
        return ''
      }
      sent += piece
      return piece
    },
    /** The text that is left. */
    end(): string {
      if (held.length === 0) return ''
      const rest = resolve(sent, held)
      sent += rest
      held = []
      return rest
    },
    isComplete: () => held.length > 0 || (sent.endsWith('}') && parseJson(sent) !== undefined),
    text: () => sent,
  }
}

/** The rest of the arguments after `sent`, read as pieces if that is JSON, else as repetitions. */
function resolve(sent: string, held: readonly string[]): string {
  const appended = held.join('')
  if (parseJson(sent + appended) !== undefined) return appended
  let whole = sent
  for (const piece of held) whole = piece.startsWith(whole) || whole === '{}' ? piece : whole + piece
  return whole.startsWith(sent) && parseJson(whole) !== undefined ? whole.slice(sent.length) : appended
}
