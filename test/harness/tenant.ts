import { vi } from 'vitest'
import { type Browser, createPerson } from './people.ts'
import { shopFile } from './tool-services.ts'
import {
  type ApiAnswer,
  expectStatus,
  type TestOrganisation,
  type TestPortico,
  uploadForm,
  waitForDocument,
} from './portico.ts'

/** One organisation with a real object of each kind, for tests that try to reach them from another organisation. */
export interface Tenant {
  organisation: TestOrganisation
  administrator: Browser
  member: Browser
  /** A text in each object that holds text. */
  marker: string
  ids: TenantIds
}

export interface TenantIds {
  organisationId: string
  spaceId: string
  endpointId: string
  /** Of its website. */
  name: string
  documentId: string
  questionId: string
  runId: string
  conversationId: string
  /** A conversation of the administrator in the console. */
  chatId: string
  operationId: string
  sourceId: string
  serverId: string
  erasureId: string
  invitationId: string
  personId: string
  sessionId: string
  requestId: string
}

type Body = ApiAnswer['body']

export async function createTenant(portico: TestPortico, marker: string): Promise<Tenant> {
  const organisation = await portico.createOrganisation({ name: `Organisation ${marker}` })
  const person = { organisationId: organisation.id }
  const administrator = await createPerson(portico, {
    email: `administrator-${marker}@example.org`,
    role: 'administrator',
    ...person,
  })
  const member = await createPerson(portico, { email: `member-${marker}@example.org`, ...person })
  const webhook = { url: `https://${marker}.example/hook`, secret: `webhook secret of ${marker}` }
  expectStatus(await portico.operator('PUT', `/api/organisations/${organisation.id}/webhook`, webhook), 200)
  const me = (await member.call('GET', '/api/me')).body
  const invited = { email: `invited-${marker}@example.org`, role: 'member' }
  const invitation = await administrator.call('POST', `/api/organisations/${organisation.id}/invitations`, invited)
  const completion = await organisation.client('POST', '/v1/gateway/chat/completions', {
    model: 'portico/offline',
    messages: [{ role: 'user', content: marker }],
  })
  expectStatus(completion, 200)
  const filled = await fillSpace(portico, organisation, administrator, marker)
  const erasureId = await eraseVisitor(organisation, administrator, marker)
  return {
    organisation,
    administrator,
    member,
    marker,
    ids: {
      organisationId: organisation.id,
      invitationId: expectStatus(invitation, 201).id,
      personId: me.person.id,
      sessionId: me.sessionId,
      requestId: completion.headers.get('x-request-id')!,
      erasureId,
      ...filled,
    },
  }
}

/** Resolves to the id of a completed erasure. */
async function eraseVisitor({ id }: TestOrganisation, { call }: Browser, marker: string): Promise<string> {
  const erasures = `/api/organisations/${id}/erasures`
  const { id: erasureId } = expectStatus(await call('POST', erasures, { user: `visitor-${marker}` }), 202)
  const isCompleted = async () => expectStatus(await call('GET', `${erasures}/${erasureId}`), 200).state === 'completed'
  await vi.waitUntil(isCompleted, { timeout: 60_000 })
  return erasureId as string
}

async function fillSpace(portico: TestPortico, organisation: TestOrganisation, { call }: Browser, marker: string) {
  const { id: spaceId, endpointId } = await portico.createSpace(organisation, {
    name: `Space ${marker}`,
    instructions: `Instructions ${marker}.`,
  })
  const base = `/api/spaces/${spaceId}`
  const credential = { kind: 'bearer', token: `token-of-${marker}` }
  const shop = { kind: 'openapi', name: 'shop', url: `https://${marker}.example`, document: shopFile, credential }
  const server = expectStatus(await call('POST', `${base}/tools`, { ...shop, allowed: ['getOrder'] }), 201)
  const site = { enabled: true, name: `site-${marker}`, title: 'Tickets', dailyCapUsd: '1' }
  expectStatus(await call('PUT', `${base}/site`, site), 200)
  const settings = { keepConversations: true, keepUnansweredQuestions: true }
  expectStatus(await call('PATCH', base, { settings }), 200)
  const form = uploadForm(`A ticket of ${marker} costs 12 euros.`, `${marker}.txt`)
  const { id: documentId } = expectStatus(
    await organisation.client('POST', `/v1/documents?spaceId=${spaceId}`, form),
    201,
  )
  await waitForDocument(organisation.client, documentId)
  const messages = [{ role: 'user', content: `What does a ticket of ${marker} cost?` }]
  expectStatus(await organisation.client('POST', `/v1/endpoints/${endpointId}/chat`, { messages }), 200)
  const chatId = crypto.randomUUID()
  expectStatus(await call('POST', `${base}/chat`, { messages }, { 'service-conversation': chatId }), 200)
  const question = expectStatus(await call('POST', `${base}/golden-questions`, { messages }), 201)
  const run = expectStatus(await call('POST', `${base}/golden-runs`), 202)
  const change = { ids: [documentId], set: { owner: marker } }
  const operation = expectStatus(await call('POST', `${base}/documents/metadata`, change), 202)
  const load = async (path: string): Promise<Body> => expectStatus(await call('GET', base + path), 200)
  const until = (isTrue: () => Promise<boolean>) => vi.waitUntil(isTrue, { timeout: 60_000 })
  await until(async () => (await load(`/golden-runs/${run.id}`)).endedAt !== null)
  await until(async () => (await load('/documents')).operations.length === 0)
  await until(async () => (await load('/conversations')).items.length === 1)
  await until(async () => (await load('/own-chats')).items.length === 1)
  const [conversation] = (await load('/conversations')).items
  return {
    spaceId,
    endpointId,
    name: site.name,
    documentId,
    serverId: server.id as string,
    questionId: question.id as string,
    runId: run.id as string,
    operationId: operation.id as string,
    sourceId: await addWebSource(portico, organisation, spaceId, marker),
    conversationId: conversation.id as string,
    chatId,
  }
}

/** A web address that is not read, so that its row stays as it is. */
async function addWebSource({ service }: TestPortico, { id }: TestOrganisation, spaceId: string, marker: string) {
  const sourceId = crypto.randomUUID()
  await service.corpus.execute(
    `insert into web_sources (id, organisation_id, space_id, kind, url, host) values ($1, $2, $3, 'page', $4, 'portico.invalid')`,
    [sourceId, id, spaceId, `https://portico.invalid/${marker}`],
  )
  return sourceId
}
