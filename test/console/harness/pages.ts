import { setTimeout as sleep } from 'node:timers/promises'
import { createPerson } from '../../harness/people.ts'
import { expectStatus, type TestPortico } from '../../harness/portico.ts'
import { type Seed, seed } from './seed.ts'

/** Every page of the console, with data on it: quality.test.ts opens them, and fails if a route is missing here. */

export interface PageSeed extends Seed {
  conversationId: string
  runId: string
  /** Paths below /console. */
  invitation: string
  passwordReset: string
}

interface PageCase {
  at: (seeded: PageSeed) => string
  /** For people who are not signed in. */
  isPublic?: true
  /** Requests for data of the page, without repeated ones; default 1. */
  requests?: number
  /** It soon loads its data again: on a slow machine before the network is quiet. */
  isRefreshing?: true
  /** Compressed scripts and styles of the first load; default 250. */
  maximumKibibytes?: number
}

const team = ({ organisation }: PageSeed) => `/organisations/${organisation.id}`
const published = (seeded: PageSeed) => `${team(seeded)}/published-spaces`
const space = (seeded: PageSeed) => `${team(seeded)}/spaces/${seeded.space.id}`
const file = (seeded: PageSeed, name: string) => `${space(seeded)}/files/${seeded.documents[name]}`
const golden = (seeded: PageSeed) => `${space(seeded)}/golden-questions`

const table = {
  'sign-in': { at: () => '/sign-in', isPublic: true, maximumKibibytes: 150 },
  invitation: { at: ({ invitation }) => invitation, isPublic: true },
  'password-reset': { at: ({ passwordReset }) => passwordReset, isPublic: true },
  account: { at: () => '/account' },
  'developer-tools': { at: (seeded) => `${team(seeded)}/developer-tools` },
  playground: { at: (seeded) => `${team(seeded)}/playground` },
  'receipt-search': { at: (seeded) => `${team(seeded)}/receipts`, requests: 0 },
  receipt: { at: (seeded) => `${team(seeded)}/receipts/${seeded.requestIds[0]}` },
  'published-spaces': { at: published },
  'published-space': { at: (seeded) => `${published(seeded)}/${seeded.space.id}` },
  'hosted-chat': { at: (seeded) => `${published(seeded)}/${seeded.space.id}/hosted-chat` },
  members: { at: (seeded) => `${team(seeded)}/members` },
  'data-protection': { at: (seeded) => `${team(seeded)}/data-protection`, isRefreshing: true },
  activity: { at: (seeded) => `${team(seeded)}/activity` },
  spaces: { at: (seeded) => `${team(seeded)}/spaces` },
  settings: { at: (seeded) => `${space(seeded)}/settings` },
  tools: { at: (seeded) => `${space(seeded)}/tools` },
  chat: { at: (seeded) => `${space(seeded)}/chat` },
  conversations: { at: (seeded) => `${space(seeded)}/conversations` },
  conversation: { at: (seeded) => `${space(seeded)}/conversations/${seeded.conversationId}` },
  files: { at: (seeded) => `${space(seeded)}/files` },
  'document-pdf': {
    at: (seeded) => `${file(seeded, 'handbook.pdf')}?page=2&quote=${encodeURIComponent('30 days of paid leave')}`,
  },
  'document-csv': { at: (seeded) => file(seeded, 'prices.csv') },
  'document-failed': { at: (seeded) => file(seeded, 'broken.pdf') },
  search: { at: (seeded) => `${space(seeded)}/search`, requests: 0 },
  'golden-questions': { at: golden },
  'golden-candidates': { at: (seeded) => `${golden(seeded)}/candidates` },
  'golden-runs': { at: (seeded) => `${golden(seeded)}/runs`, isRefreshing: true },
  'golden-run': { at: (seeded) => `${golden(seeded)}/runs/${seeded.runId}`, requests: 2, isRefreshing: true },
  'golden-settings': { at: (seeded) => `${golden(seeded)}/settings` },
  usage: { at: (seeded) => `${team(seeded)}/usage` },
  'usage-requests': { at: (seeded) => `${team(seeded)}/usage?view=requests` },
  // The page does not wait for what fails and for alerts.
  overview: { at: () => '/operator', requests: 3 },
  health: { at: () => '/operator/health' },
  alerts: { at: () => '/operator/alerts' },
  'alerts-resolved': { at: () => '/operator/alerts?view=resolved' },
  'alert-messages': { at: () => '/operator/alerts?view=messages' },
  'alert-settings': { at: () => '/operator/alerts?view=settings' },
  organisations: { at: () => '/operator/organisations' },
  organisation: { at: ({ organisation }) => `/operator/organisations/${organisation.id}` },
  providers: { at: () => '/operator/providers' },
  deployments: { at: () => '/operator/deployments', isRefreshing: true },
  models: { at: () => '/operator/models' },
  model: { at: () => '/operator/models/portico%2Foffline' },
  people: { at: () => '/operator/people' },
  'single-sign-on': { at: () => '/operator/single-sign-on' },
  'semantic-search': { at: () => '/operator/semantic-search' },
  system: { at: () => '/operator/system', isRefreshing: true },
  audit: { at: () => '/operator/audit' },
} satisfies Record<string, PageCase>

export type PageLabel = keyof typeof table
export const pageLabels = Object.keys(table) as PageLabel[]
export const pages: Record<PageLabel, PageCase> = table

/** Routes without a page: they lead on, and set-up is a page of an empty installation (accounts.test.ts). */
export const routesWithoutPage = ['/', '/organisations/$organisationId/spaces/$spaceId/', '/setup']

/** Data for every page. */
export async function seedPages(portico: TestPortico): Promise<PageSeed> {
  const seeded = await seed(portico, 'Übersee-Handelsgesellschaft')
  const { organisation, space } = seeded
  const call = async (method: string, path: string, body?: object) => (await portico.operator(method, path, body)).body
  await call('POST', `/api/organisations/${organisation.id}/erasures`, { user: 'visitor-9' })
  const person = await createPerson(portico, {
    email: 'member@example.com',
    organisationId: organisation.id,
    role: 'member',
  })
  const { person: member } = expectStatus(await person.call('GET', '/api/me'), 200)
  await call('PATCH', `/api/spaces/${space.id}`, { settings: { keepConversations: true } })
  const question = { messages: [{ role: 'user', content: 'When is the canteen open?' }] }
  expectStatus(await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, question), 200)
  const conversation = await waitFor(async () => {
    const { items } = await call('GET', `/api/spaces/${space.id}/conversations`)
    return items[0] as { id: string } | undefined
  })
  const runs = `/api/spaces/${space.id}/golden-runs`
  const { id: runId } = await call('POST', runs)
  await waitFor(async () => (await call('GET', `${runs}/${runId}`)).state === 'completed' || undefined)
  const invitation = await call('POST', `/api/organisations/${organisation.id}/invitations`, {
    email: 'guest@example.com',
    role: 'member',
  })
  const reset = await call('POST', `/api/people/${member.id}/password-reset`, {})
  return {
    ...seeded,
    conversationId: conversation.id,
    runId,
    invitation: `/invitations/${invitation.token}`,
    passwordReset: `/password-resets/${reset.token}`,
  }
}

/** `expect.poll` is for tests only. */
async function waitFor<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    await sleep(50)
  }
}
