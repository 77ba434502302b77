/** A question whose answer was being written when the page was loaded again, in the storage of the tab. */
export interface AskedQuestion {
  question: string
  /** Undefined until the answer begins. */
  requestId?: string | undefined
  /** Of the browser, in ms. */
  startedAt: number
}

const keyOf = (chatId: string) => `portico-asked-${chatId}`

export function readAsked(chatId: string): AskedQuestion | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(chatId))
    return text === null ? undefined : (JSON.parse(text) as AskedQuestion)
  } catch {
    return undefined
  }
}

/** Undefined: its answer has ended. */
export function writeAsked(chatId: string, asked: AskedQuestion | undefined): void {
  try {
    if (asked) sessionStorage.setItem(keyOf(chatId), JSON.stringify(asked))
    else sessionStorage.removeItem(keyOf(chatId))
  } catch {
    // A browser without storage, or with a full one: a reload shows the answer once it is stored.
  }
}

/** For a sign-out: the next person may use the same tab. */
export function forgetAsked(): void {
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(keyOf('')))
  for (const key of keys) sessionStorage.removeItem(key)
}
