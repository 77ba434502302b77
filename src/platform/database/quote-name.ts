/** An SQL identifier in quotes, for statements that do not accept a parameter in its place. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
