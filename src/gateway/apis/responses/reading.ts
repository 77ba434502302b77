/** What the reading of one request collects on its way. */
export interface Reading {
  /** Fields that were changed or left out although they have a meaning, for `x-adjusted-params`. */
  adjusted: Set<string>
  /** Fields without effect here, for `x-ignored-params`. */
  ignored: Set<string>
  images: number
}

export function startReading(unread: readonly string[]): Reading {
  return { adjusted: new Set(), ignored: new Set(unread), images: 0 }
}

/** Adds the members that are not read to the ignored fields. */
export function nameUnknown(
  value: Record<string, unknown>,
  known: readonly string[],
  prefix: string,
  { ignored }: Reading,
): void {
  for (const name in value) {
    if (!known.includes(name) && ignored.size < maximumIgnoredNames) ignored.add(prefix + name.slice(0, 64))
  }
}

/** Names in one header. */
const maximumIgnoredNames = 64
