import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import {
  createEndpointId,
  createOrganisationId,
  createSpaceId,
  describeError,
  parsePicoUsd,
  sharedOwner,
  type SpaceId,
} from '../../platform/kernel/index.ts'
import { serviceActor } from '../../tenants/operators/index.ts'
import { makeOrganisation, type Organisation } from '../../tenants/organisations/index.ts'
import type { Parts } from '../compose.ts'
import { makeSpace, type Space } from '../../chat/spaces/index.ts'
import { createDemoStore } from './demo.store.ts'

export interface Demo {
  apiKey: string
  spaceId: string
  endpointId: string
}

export type DemoParts = Pick<
  Parts,
  | 'control'
  | 'organisationStore'
  | 'spaceStore'
  | 'organisations'
  | 'documents'
  | 'changeFeed'
  | 'config'
  | 'clock'
  | 'log'
>

const monthlyBudgetUsd = '25'
const instructions = 'You answer questions of visitors, briefly and in a friendly tone.'
const welcome = `# Welcome to Portico

Portico puts a model gateway, document management and published Space chat behind one API key per organisation.

## Opening hours of the demo museum

The demo museum is open from Tuesday to Friday between 10:00 and 18:00. On Sundays it opens at 11:00 and closes at 17:00.
On Mondays the museum is closed.

## Tickets

A ticket costs 12 euros; children under six years enter free of charge.
`
/** Makes the upload idempotent: a start after an interrupted one does not upload it again. */
const welcomeUploadKey = 'first-start-welcome'
/** Longest wait for the welcome document. The service is up in any case. */
const welcomeWaitMs = 15_000

/**
 * Creates the demo once per database, if it has no organisation: an organisation, a published Space with one document, and last the
 * key. Each step checks whether it is done, so a later start completes an interrupted one. Several instances may run the steps at the
 * same time; the instance that creates the key prints it.
 */
export async function ensureDemo(parts: DemoParts, show: (demo: Demo) => Promise<void>): Promise<void> {
  const { control: database, organisationStore, spaceStore, organisations, changeFeed, log } = parts
  const store = createDemoStore({ database: database.for(sharedOwner), organisationStore, spaceStore })
  await store.insertOnce(...makeDemo(parts))
  const unfinished = await store.loadUnfinished()
  if (!unfinished) return
  await changeFeed.caughtUp()
  const { organisationId, spaceId, endpointId } = unfinished
  const organisation = organisations.get(organisationId)
  // Undefined when the service is stopping.
  if (!organisation) return
  await uploadWelcome(parts, organisation, spaceId as SpaceId).catch((error: unknown) =>
    log.warn({ error: describeError(error) }, 'the demo Space is without its welcome document'),
  )
  await organisations.createFirstKey(organisationId, serviceActor, (apiKey) => show({ apiKey, spaceId, endpointId }))
}

function makeDemo({ config, clock }: DemoParts): [Organisation, Space] {
  const nowMs = clock.now()
  const organisation = makeOrganisation(
    createOrganisationId(),
    {
      name: 'Demo organisation',
      plan: 'enterprise',
      gatewayEnabled: true,
      gatewayOptIn: true,
      monthlyBudgetPicoUsd: parsePicoUsd(monthlyBudgetUsd),
    },
    nowMs,
  )
  const model = config.settings.chat.defaultModel
  const space = makeSpace(
    createSpaceId(),
    { organisationId: organisation.id, name: 'Demo Space', instructions, model },
    nowMs,
  )
  return [organisation, { ...space, published: true, endpointId: createEndpointId() }]
}

async function uploadWelcome({ documents }: DemoParts, organisation: Organisation, spaceId: SpaceId): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([welcome], { type: 'text/markdown' }), 'welcome.md')
  const body = new Response(form)
  const headers = { 'content-type': body.headers.get('content-type')! }
  const request = Object.assign(Readable.from(Buffer.from(await body.arrayBuffer())), { headers })
  const signal = AbortSignal.timeout(welcomeWaitMs)
  const { id } = await documents.upload(organisation, {
    version: 1,
    spaceId,
    request,
    uploadKey: welcomeUploadKey,
    signal,
  })
  while (!signal.aborted && (await documents.get(organisation, id)).status === 'processing') await wait(100)
}
