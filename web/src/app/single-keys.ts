const storageKey = 'portico-single-keys'

/** Shortcuts of single keys are on unless the person has turned them off in this browser. */
export function areSingleKeysAllowed(): boolean {
  try {
    return localStorage.getItem(storageKey) !== 'off'
  } catch {
    return true
  }
}

export function allowSingleKeys(isAllowed: boolean): void {
  try {
    localStorage.setItem(storageKey, isAllowed ? 'on' : 'off')
  } catch {
    // Storage is blocked: they stay on.
  }
}

/** The keys of the search, as this system writes them. */
export function searchKeys(): string {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'
}
