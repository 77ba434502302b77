/** Names as every provider accepts them: letters, digits, `_` and `-`. Adds the result to `taken`. */
export function uniqueName(wanted: string, maximum: number, taken: Set<string>): string {
  const name =
    wanted
      .replaceAll(/[^a-zA-Z0-9_-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, maximum) || 'tool'
  let unique = name
  for (let number = 2; taken.has(unique); number++) {
    const suffix = `_${number}`
    unique = name.slice(0, maximum - suffix.length) + suffix
  }
  taken.add(unique)
  return unique
}
