/**
 * What a screen reader reads of a growing answer: whole sentences, each once, without the signs of Markdown and without markers.
 *
 * @returns the sentences that have ended since the last call, or with `isComplete` all the rest.
 */
export function createSentenceReader(): (text: string, isComplete: boolean) => string {
  let read = 0
  return (text, isComplete) => {
    const rest = text.slice(read)
    const end = isComplete ? rest.length : lastSentenceEnd(rest)
    read += end
    return toSpeech(rest.slice(0, end))
  }
}

/** Behind the last sign that ends a sentence or a line. */
function lastSentenceEnd(text: string): number {
  let end = 0
  // A full stop after a digit may number a list or divide a number. Markers belong to the sentence before them.
  for (const match of text.matchAll(/(?:(?<!\d)[.!?…؟।]["”»)]*(?:\s?\[\d{1,4}\])*\s|[。！？]|\n)/g))
    end = match.index + match[0].length
  return end
}

function toSpeech(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s?\[\d{1,4}\]/g, '')
    .replace(/^\s*(?:#{1,6}|[-*+]|>|```.*|\|[-:| ]+\|?)\s*/gm, '')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/\|/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
