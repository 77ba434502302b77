/** An SQL identifier in quotes, for the few statements that take no parameter in its place. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
