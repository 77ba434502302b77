const key = 'portico-organisation'
const recentKey = 'portico-recent-organisations'
/** Organisations that the switcher of an operator offers before a search. */
const maximumRecent = 6

/** The organisation whose pages this browser showed last. */
export function rememberedOrganisation(): string | undefined {
  return read(key) ?? undefined
}

/** The ids of the organisations whose pages this browser showed, newest first. Names are not stored: another person may sign in later. */
export function recentOrganisations(): string[] {
  return (read(recentKey) ?? '').split(' ').filter((id) => id !== '')
}

export function rememberOrganisation(id: string): void {
  const recent = [id, ...recentOrganisations().filter((other) => other !== id)].slice(0, maximumRecent)
  try {
    localStorage.setItem(key, id)
    localStorage.setItem(recentKey, recent.join(' '))
  } catch {
    // Storage is blocked: the first organisation is shown.
  }
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}
