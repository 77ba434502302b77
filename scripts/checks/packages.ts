/** Rules for the packages of package-lock.json. */

export interface LockedPackage {
  name: string
  version: string
  licence: string
  isDevelopment: boolean
  hasInstallScript: boolean
  hasIntegrity: boolean
}

interface LockEntry {
  version?: string
  license?: string
  dev?: boolean
  link?: boolean
  hasInstallScript?: boolean
  integrity?: string
}

/** Licences that allow use, change and redistribution without conditions on our code. */
const allowedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
])

/** Packages whose metadata name no licence, with the licence of their documentation. */
const statedElsewhere: Record<string, string> = { 'format@0.2.2': 'MIT', 'json-bignum@0.0.3': 'MIT' }

/** Every package of the lock file once, sorted; a package of production and development counts as production. */
export function readLockedPackages(lock: { packages: Record<string, LockEntry> }): LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (!place.includes('node_modules/') || entry.link) continue
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const id = `${name}@${entry.version}`
    const before = found.get(id)
    found.set(id, {
      name,
      version: entry.version ?? '',
      licence: entry.license ?? statedElsewhere[id] ?? 'none',
      isDevelopment: entry.dev === true && (before?.isDevelopment ?? true),
      hasInstallScript: entry.hasInstallScript === true,
      hasIntegrity: entry.integrity !== undefined,
    })
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

/** Every broken rule as one line. */
export function findPackageProblems(packages: readonly LockedPackage[]): string[] {
  return packages.flatMap(({ name, version, licence, isDevelopment, hasInstallScript, hasIntegrity }) => [
    ...(hasInstallScript ? [`${name}@${version} runs a script when it is installed`] : []),
    ...(hasIntegrity ? [] : [`${name}@${version} has no integrity hash in package-lock.json`]),
    ...(isDevelopment || isAllowed(licence) ? [] : [`${name}@${version} has the licence ${licence}`]),
  ])
}

/** `MIT OR GPL-2.0`: one of both is enough. `MIT AND X`: both are needed. */
function isAllowed(licence: string): boolean {
  const plain = licence.replaceAll(/[()]/g, '')
  if (plain.includes(' AND ')) return plain.split(' AND ').every(isAllowed)
  return plain.split(' OR ').some((one) => allowedLicences.has(one.trim()))
}

/** docs/reference/licences.md. */
export function renderLicences(packages: readonly LockedPackage[]): string {
  const production = packages.filter(({ isDevelopment }) => !isDevelopment)
  const byLicence = Map.groupBy(production, ({ licence }) => licence)
  const counts = [...byLicence].toSorted(([, a], [, b]) => b.length - a.length)
  return [
    '# Licences of the packages in production',
    '',
    'For operators who must know what they run. `npm run write:licences` writes this page from `package-lock.json`, and from those of',
    '`deploy/ocr` (text recognition) and `deploy/lance` (LanceDB), both optional; `npm run check` fails when it is out of date, or when',
    'a package has another licence.',
    '',
    '| Licence | Packages |',
    '|---|---:|',
    ...counts.map(([licence, { length }]) => `| ${licence} | ${length} |`),
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    ...production.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`),
    '',
    'The near words of the offline model are made from WordNet 3.1 of Princeton University, under',
    '[its licence](../../src/platform/language/near-words.LICENSE.txt).',
    '',
  ].join('\n')
}

interface Sbom {
  bomFormat?: unknown
  specVersion?: unknown
  components?: { name?: string; version?: string; purl?: string; 'bom-ref'?: string; hashes?: unknown[] }[]
  dependencies?: { ref: string; dependsOn?: string[] }[]
}

/**
 * The document without tools of development. `npm sbom --omit=dev` (11.19) also leaves out packages of production that a tool needs as
 * well, such as zod.
 */
export function withoutTools(sbom: Sbom, packages: readonly LockedPackage[]): Sbom {
  const tools = new Set(packages.flatMap((one) => (one.isDevelopment ? [`${one.name}@${one.version}`] : [])))
  const components = sbom.components?.filter(({ name, version }) => !tools.has(`${name}@${version}`))
  const left = new Set(components?.map((one) => one['bom-ref']))
  const dependencies = sbom.dependencies?.flatMap(({ ref, dependsOn }) => {
    const isTool = sbom.components?.some((one) => one['bom-ref'] === ref) && !left.has(ref)
    return isTool ? [] : [{ ref, dependsOn: dependsOn?.filter((one) => left.has(one)) ?? [] }]
  })
  return { ...sbom, ...(components && { components }), ...(dependencies && { dependencies }) }
}

/** What a CycloneDX document of the production packages lacks, each as one line. */
export function findSbomProblems(sbom: Sbom, packages: readonly LockedPackage[]): string[] {
  if (sbom.bomFormat !== 'CycloneDX' || typeof sbom.specVersion !== 'string') return ['it is no CycloneDX document']
  const components = sbom.components ?? []
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`))
  const required = packages.filter(({ isDevelopment }) => !isDevelopment)
  return [
    ...required.flatMap(({ name, version }) =>
      listed.has(`${name}@${version}`) ? [] : [`${name}@${version} is missing`],
    ),
    ...components.flatMap(({ name, version, purl, hashes }) =>
      purl?.startsWith('pkg:npm/') && (hashes?.length ?? 0) > 0 ? [] : [`${name}@${version} has no purl or no hash`],
    ),
  ]
}

/** What `npm audit --json` reports: vulnerable packages, or why there is no report. */
export function readAudit(output: string): { vulnerable: string[] } | { unavailable: string } {
  let report: { vulnerabilities?: Record<string, { severity: string }>; message?: string; error?: { summary?: string } }
  try {
    report = JSON.parse(output)
  } catch {
    return { unavailable: 'it printed no JSON' }
  }
  if (!report.vulnerabilities) return { unavailable: report.message ?? report.error?.summary ?? 'no reason was given' }
  const serious = Object.entries(report.vulnerabilities).filter(([, { severity }]) =>
    /^(?:high|critical)$/.test(severity),
  )
  return { vulnerable: serious.map(([name, { severity }]) => `${name}: ${severity}`) }
}
