import { readStored, store } from '../ui/browser-storage.ts'

const key = 'portico-organisation'
const recentKey = 'portico-recent-organisations'
/** Organisations that the switcher of an operator offers before a search. */
const maximumRecent = 6

/** The organisation whose pages this browser showed last. */
export function rememberedOrganisation(): string | undefined {
  return readStored(key) ?? undefined
}

/** The ids of the organisations whose pages this browser showed, newest first. Names are not stored: another person may sign in later. */
export function recentOrganisations(): string[] {
  return (readStored(recentKey) ?? '').split(' ').filter((id) => id !== '')
}

export function rememberOrganisation(id: string): void {
  const recent = [id, ...recentOrganisations().filter((other) => other !== id)].slice(0, maximumRecent)
  store(key, id)
  store(recentKey, recent.join(' '))
}
