/** The quotes of an answer of the offline model, best first, without their markers. Each is a paragraph whose sentences have markers. */
export function readQuotes(answer: string): string[] {
  return answer
    .split('\n\n')
    .filter((paragraph) => /\[\d+\]$/.test(paragraph))
    .map((paragraph) => paragraph.replaceAll(/ \[\d+\]/g, ''))
}
