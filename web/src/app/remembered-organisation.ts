const key = 'portico-organisation'

/** The organisation whose pages this browser showed last. */
export function rememberedOrganisation(): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

export function rememberOrganisation(id: string): void {
  try {
    localStorage.setItem(key, id)
  } catch {
    // Storage is blocked: the first organisation is shown.
  }
}
