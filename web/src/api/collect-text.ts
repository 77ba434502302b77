/** React draws a text at most this often, so that a fast model does not block the page. */
const drawEveryMs = 50

/** Collects the parts of an answer; `onText` receives the whole text some times a second, and with `flush`. */
export function collectText(onText: (text: string) => void) {
  let text = ''
  let drawn = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = (): string => {
    clearTimeout(timer)
    timer = undefined
    if (text !== drawn) onText((drawn = text))
    return text
  }
  return {
    add(part: string): void {
      text += part
      if (part !== '') timer ??= setTimeout(flush, drawEveryMs)
    },
    /** Passes on what was collected. Returns the whole text. */
    flush,
  }
}
