import type { ChangeSite } from '../../contract/sites.ts'
import type { OrganisationId, SpaceId } from '../../platform/kernel/index.ts'

/** What an administrator sets, without the fields of the columns. */
export type SiteSettings = Omit<ChangeSite, 'enabled' | 'name' | 'dailyCapUsd' | 'password'>

/** The website of a Space. Immutable: a change puts a new object into the snapshot. */
export interface Site {
  readonly spaceId: SpaceId
  readonly organisationId: OrganisationId
  readonly name: string
  readonly publicId: string
  readonly enabled: boolean
  readonly paused: boolean
  readonly settings: Readonly<SiteSettings>
  /** scrypt, with its salt. */
  readonly passwordHash: string | null
  readonly dailyCapPicoUsd: bigint
  /** Raised by each change. Sessions of visitors name it and end with it. */
  readonly generation: number
  readonly updatedAt: number
}

/** The same for the admin log: without the password and the image. */
export function describeSiteForLog(site: Site): Record<string, unknown> {
  const { logo, ...settings } = site.settings
  return {
    name: site.name,
    enabled: site.enabled,
    paused: site.paused,
    ...settings,
    hasLogo: logo !== null,
    hasPassword: site.passwordHash !== null,
    dailyCapPicoUsd: site.dailyCapPicoUsd.toString(),
  }
}

/** The longest part of a name of a Space that is a name of a site. */
const proposedCharacters = 40

/** A name of a site from the name of a Space: ASCII letters and digits with hyphens. */
export function proposeName(spaceName: string, isTaken: (name: string) => boolean): string {
  const plain = spaceName
    .slice(0, 200)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, proposedCharacters)
    .replaceAll(/^-+|-+$/g, '')
  const base = plain.length < 3 ? `chat${plain && `-${plain}`}` : plain
  if (!isTaken(base)) return base
  for (let number = 2; ; number++) if (!isTaken(`${base}-${number}`)) return `${base}-${number}`
}
