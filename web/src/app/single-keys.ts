import { readStored, store } from '../ui/browser-storage.ts'

const storageKey = 'portico-single-keys'

/** Shortcuts of single keys are on unless the person has turned them off in this browser. */
export const areSingleKeysAllowed = () => readStored(storageKey) !== 'off'

export const allowSingleKeys = (isAllowed: boolean) => store(storageKey, isAllowed ? 'on' : 'off')

/** The keys of the search, as this system writes them. */
export function searchKeys(): string {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'
}
