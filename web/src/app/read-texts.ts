/** The texts that an address states, without empty ones. The router reads a value such as 42 as a number. */
export function readTexts<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const values = names.map((name) => [name, typeof search[name] === 'number' ? String(search[name]) : search[name]])
  return Object.fromEntries(values.filter(([, value]) => typeof value === 'string' && value !== ''))
}
