/** Letters of a piece: shorter ones are in too many words, longer ones miss parts of compounds. */
const pieceLetters = 4
const wordPattern = /[\p{L}\p{N}\p{M}]+/gu

/**
 * Reads which share of a question's pieces a text has, 0..1. A piece is four letters in a row of a word with its borders, so that words are
 * similar that stems keep apart: "hidden" and "unhide", "Konto" and "Benutzerkonto". Time is linear in question and text.
 */
export function createPieceShare(question: string): (text: string) => number {
  const wanted = new Set(wordsOf(question).flatMap(piecesOf))
  /** The wanted pieces of the words read so far. */
  const known = new Map<string, readonly string[]>()
  return (text) => {
    const found = new Set<string>()
    for (const word of wordsOf(text)) {
      let pieces = known.get(word)
      if (!pieces) known.set(word, (pieces = piecesOf(word).filter((piece) => wanted.has(piece))))
      for (const piece of pieces) found.add(piece)
    }
    return wanted.size === 0 ? 0 : found.size / wanted.size
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(wordPattern) ?? []
}

function piecesOf(word: string): string[] {
  const framed = `^${word}$`
  return Array.from({ length: Math.max(0, framed.length - pieceLetters + 1) }, (_, at) =>
    framed.slice(at, at + pieceLetters),
  )
}
