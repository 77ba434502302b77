/** SQLSTATE classes 22 (data exception) and 23 (constraint violation): a retry cannot succeed. */
export function isRefusal(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as { code?: unknown }).code
    if (typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)) return true
  }
  return false
}

/** The statement certainly has no effect; see DatabaseError. */
export function isUnsent(error: unknown): boolean {
  return (error as { isUnsent?: unknown } | undefined)?.isUnsent === true
}
