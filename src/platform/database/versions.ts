/** Compares dotted versions number by number. */
export function isOlder(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [index, bound] of than.entries()) {
    const part = parts[index] ?? 0
    if (part !== bound) return part < bound
  }
  return false
}
