/** The storage of this browser, which may be blocked or full: then nothing is stored, and a reload forgets the choice. */

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // It lasts until the page is closed.
  }
}
