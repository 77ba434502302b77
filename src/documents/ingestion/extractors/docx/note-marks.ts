/** Further marks than these are the ids alone, so that two notes can share one. */
const maximumMarks = 100_000

export type NoteMarks = ReturnType<typeof createNoteMarks>

/**
 * The marks of footnotes and endnotes in the text and before the notes. Word numbers both from 1, so that the second kind with an id gets
 * another mark: `[^e1]` for an endnote, `[^f1]` for a footnote.
 */
export function createNoteMarks() {
  const firstKinds = new Map<string, string>()
  /** `element` is that of the note or of the reference to it. */
  return (element: string, id: string): string => {
    const kind = element.startsWith('w:endnote') ? 'e' : 'f'
    const first = firstKinds.get(id) ?? kind
    if (firstKinds.size < maximumMarks) firstKinds.set(id, first)
    return first === kind ? `[^${id}]` : `[^${kind}${id}]`
  }
}
