import { z } from 'zod'
import { metadataFilterSchema } from './metadata-filter.ts'

/** The website of a published Space: its address, who may open it, and what its visitors may cost. For administrators. */

export const siteLimits = {
  title: 80,
  greeting: 1_000,
  suggestions: 6,
  suggestion: 200,
  allowedOrigins: 50,
  /** Characters of the data URL: about 48 KiB of image. */
  logo: 65_536,
  password: { least: 8, most: 200 },
  /** Most messages a minute of each limit. */
  perMinute: 100_000,
} as const

const siteName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{1,58}[a-z0-9])$/,
    'must have 3 to 60 lower-case letters, digits and hyphens, and begin and end with a letter or digit',
  )
  .refine((name) => !z.uuid().safeParse(name).success, 'must not be a UUID')
  .describe('The last part of the address `/s/NAME`; unique in the installation.')

/** As browsers write an origin: scheme, host in lower case, and the port if it is not the usual one. */
const embeddingOrigin = z
  .string()
  .max(300)
  .refine((text) => isOrigin(text), 'must be an origin such as https://www.example.com: no path, no wildcard')

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*')
}

const logo = z
  .string()
  .max(siteLimits.logo)
  .regex(
    /^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
    'must be a data URL of a PNG, JPEG or WebP image, in base64',
  )

const messagesPerMinute = (usual: number) => z.int().min(1).max(siteLimits.perMinute).default(usual)

const sitePresentation = {
  title: z.string().trim().min(1).max(siteLimits.title).describe('The heading of the chat.'),
  greeting: z.string().max(siteLimits.greeting).default('').describe('The first message; plain text.'),
  suggestions: z
    .array(z.string().trim().min(1).max(siteLimits.suggestion))
    .max(siteLimits.suggestions)
    .default([])
    .describe('Questions that visitors may select.'),
  colour: z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be a colour such as #1a7f5a, in lower case')
    .nullable()
    .default(null)
    .describe('The accent colour; null: the usual one.'),
  logo: logo.nullable().default(null).describe('An image of at most 48 KiB as a data URL.'),
}

const access = z
  .enum(['everyone', 'members', 'password'])
  .describe(
    '`members`: signed-in members of the organisation, on the share page only. `password`: everyone with the password.',
  )

const citations = z
  .enum(['title', 'quote', 'page'])
  .describe(
    'What a citation shows: the title of the file, also the quote, or also the file and its text. `page` lets visitors download the cited files.',
  )

const siteFields = {
  enabled: z.boolean().describe('Off: the address is a 404, also while the Space is published.'),
  name: siteName,
  access: access.default('everyone'),
  allowedOrigins: z
    .array(embeddingOrigin)
    .max(siteLimits.allowedOrigins)
    .default([])
    .describe('Websites that may embed the chat; none: only the share page.'),
  ...sitePresentation,
  citations: citations.default('quote'),
  filter: metadataFilterSchema
    .nullable()
    .default(null)
    .describe(
      'The only documents that answers to visitors may use, as `service-document-filter`. A Space with `requiredFilter` answers visitors only if this restricts its fields.',
    ),
  agentic: z.boolean().default(false).describe('The model may use tools, as with `service-enable-agentic-workflow`.'),
  proofOfWork: z
    .enum(['automatic', 'always'])
    .default('automatic')
    .describe('When a browser has to solve a small puzzle before its visit: when traffic is unusual, or always.'),
  limits: z
    .strictObject({
      visitorPerMinute: messagesPerMinute(10).describe('Messages of one visitor.'),
      addressPerMinute: messagesPerMinute(30).describe('Messages from one address, for IPv6 one /64 network.'),
      spacePerMinute: messagesPerMinute(120).describe('Messages of all visitors.'),
    })
    .prefault({})
    .describe('Each counts a minute, on each instance.'),
  dailyCapUsd: z
    .union([z.string().max(40), z.number()])
    .describe(
      'US dollars a day in the time zone of the organisation, exact: `"5.00"`. At most 12 decimals. Inside of the budget.',
    ),
}

export const changeSiteSchema = z
  .strictObject({
    ...siteFields,
    password: z
      .string()
      .min(siteLimits.password.least)
      .max(siteLimits.password.most)
      .optional()
      .describe('Needed when the access becomes `password`; absent: the stored one is kept. Never returned.'),
  })
  .meta({ id: 'ChangeSite' })

const siteSchema = z
  .object({
    ...siteFields,
    access,
    allowedOrigins: z.array(z.string()),
    dailyCapUsd: z.string(),
    publicId: z.string().describe('The `data-space` of the widget; public.'),
    hasPassword: z.boolean(),
    paused: z.boolean(),
    generation: z
      .int()
      .describe('Raised by each change and each pause, which ends all visits. In quotes for `if-match`: `"7"`.'),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Site' })

export const siteViewSchema = z
  .object({
    site: siteSchema.nullable().describe('null: never set up.'),
    proposedName: z.string().describe('A free name made from the name of the Space.'),
    published: z.boolean().describe('Of the Space. The site answers only while it is published.'),
    shareUrl: z.string().nullable().describe('The address of the share page.'),
    snippet: z.string().nullable().describe('The element for websites of `allowedOrigins`; null without any.'),
  })
  .meta({ id: 'SiteView' })

export const siteTodaySchema = z
  .object({
    day: z.iso.date().describe('In the time zone of the organisation.'),
    resetsAt: z.iso.datetime().describe('When the next day begins there.'),
    capUsd: z.string(),
    spentUsd: z.string().describe('Billed for visitors today, an exact decimal.'),
    heldUsd: z.string().describe('Reserved for running answers. `spentUsd` + `heldUsd` never exceeds the cap.'),
    sessions: z.int().describe('Visits that began today, without their renewals; some seconds old.'),
    messages: z.int().describe('Questions of visitors today that reached the model.'),
  })
  .meta({ id: 'SiteToday' })

export const siteSuggestionsSchema = z
  .object({
    questions: z.array(z.string()).describe('From golden questions and from the headings of the files; at most 6.'),
  })
  .meta({ id: 'SiteSuggestions' })

export type ChangeSite = z.output<typeof changeSiteSchema>
export type SiteBody = z.output<typeof siteSchema>
export type SiteViewBody = z.output<typeof siteViewSchema>
export type SiteTodayBody = z.output<typeof siteTodaySchema>
