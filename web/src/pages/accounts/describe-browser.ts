/** In the order of the test: most browsers also name the ones that they imitate. */
const browsers = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const
const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** "Firefox, Linux" for a user agent; undefined without a known browser. */
export function describeBrowser(userAgent: string | null): string | undefined {
  const name = nameIn(browsers, userAgent ?? '')
  const system = nameIn(systems, userAgent ?? '')
  return name && [name, system].filter((part) => part !== undefined).join(', ')
}

function nameIn(table: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1]
}
