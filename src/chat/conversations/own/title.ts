const titleCharacters = 80

/** The title of a conversation: its first question in one line, cut after a word at 80 characters. Never empty. */
export function titleOf(question: string): string {
  // More than the title needs, so that a long question costs nothing.
  const line = question.slice(0, 1_000).replaceAll(/\s+/gu, ' ').trim()
  if (line === '') return '…'
  if (line.length <= titleCharacters) return line
  const start = line.slice(0, titleCharacters)
  const end = start.lastIndexOf(' ')
  return `${start.slice(0, end > titleCharacters / 2 ? end : titleCharacters).toWellFormed()}…`
}
