import type { z } from 'zod'
import type { changeSiteSchema, SiteViewBody } from '@contract/sites.ts'

export type SiteChange = z.input<typeof changeSiteSchema>

/** The fields of the form as they are typed. */
export interface SiteDraft {
  enabled: boolean
  name: string
  access: 'everyone' | 'members' | 'password'
  password: string
  /** One origin a line. */
  origins: string
  title: string
  greeting: string
  /** One question a line. */
  suggestions: string
  colour: string | null
  logo: string | null
  citations: 'title' | 'quote' | 'page'
  filter: SiteChange['filter']
  agentic: boolean
  proofAlways: boolean
  dailyCapUsd: string
  visitorPerMinute: number | ''
  addressPerMinute: number | ''
  spacePerMinute: number | ''
}

export function draftOf(
  { site, proposedName }: SiteViewBody,
  defaults: { title: string; greeting: string },
): SiteDraft {
  if (!site)
    return {
      enabled: true,
      name: proposedName,
      access: 'everyone',
      password: '',
      origins: '',
      ...defaults,
      suggestions: '',
      colour: null,
      logo: null,
      citations: 'quote',
      filter: null,
      agentic: false,
      proofAlways: false,
      dailyCapUsd: '5',
      visitorPerMinute: 10,
      addressPerMinute: 30,
      spacePerMinute: 120,
    }
  const { enabled, name, access, title, greeting, colour, logo, citations, agentic, limits, dailyCapUsd } = site
  return {
    enabled,
    name,
    access,
    password: '',
    origins: site.allowedOrigins.join('\n'),
    title,
    greeting,
    suggestions: site.suggestions.join('\n'),
    colour,
    logo,
    citations,
    filter: site.filter,
    agentic,
    proofAlways: site.proofOfWork === 'always',
    dailyCapUsd,
    ...limits,
  }
}

export function changeOf(draft: SiteDraft): SiteChange {
  const { enabled, name, access, title, greeting, colour, logo, citations, agentic, dailyCapUsd, password } = draft
  return {
    enabled,
    name,
    access,
    // Browsers send no sign-in to the page of another website.
    allowedOrigins: access === 'members' ? [] : linesOf(draft.origins).map(toOrigin),
    title: title.trim(),
    greeting: greeting.trim(),
    suggestions: linesOf(draft.suggestions),
    colour,
    logo,
    citations,
    filter: draft.filter,
    agentic,
    proofOfWork: draft.proofAlways ? 'always' : 'automatic',
    limits: {
      ...limit('visitorPerMinute', draft.visitorPerMinute),
      ...limit('addressPerMinute', draft.addressPerMinute),
      ...limit('spacePerMinute', draft.spacePerMinute),
    },
    dailyCapUsd: dailyCapUsd.trim(),
    ...(access === 'password' && password !== '' ? { password } : {}),
  }
}

const limit = (name: string, value: number | '') => (value === '' ? {} : { [name]: value })

export const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** People paste the address of a page: its origin is what counts. */
function toOrigin(text: string): string {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`
  try {
    const { origin, protocol } = new URL(address)
    return /^https?:$/.test(protocol) ? origin : text
  } catch {
    return text
  }
}
