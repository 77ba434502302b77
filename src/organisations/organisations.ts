import { randomBytes } from 'node:crypto'
import {
  AppError,
  type ChangeSource,
  type Clock,
  createCredential,
  createOrganisationId,
  createSnapshotReloader,
  isWellFormed,
  type Log,
  lookupHash,
  type SecretBox,
  storedLookupHash,
} from '../kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import type { Organisation, OrganisationRecord, RemovedOrganisation } from './organisation.ts'
import {
  type NewOrganisation,
  type OrganisationChange,
  changeOrganisation,
  makeOrganisation,
} from './organisation-change.ts'
import { type OrganisationStore, organisationsTopic } from './organisations.store.ts'

/** An API key in clear: shown once, then only its hash is left. */
interface NewApiKey {
  key: string
  prefix: string
  lastFour: string
  createdAt: number
}

/** Every answer of `authenticate` and `get` comes from memory; every change is visible here before its promise resolves. */
export interface Organisations {
  /** The organisation whose live key this is. */
  authenticate(key: string): Organisation | undefined
  get(id: string): Organisation | undefined
  /** All of them, for background work such as budget periods. */
  all(): Iterable<Organisation>
  /** Throws `organisation_not_found`. */
  loadRecord(id: string): Promise<OrganisationRecord>
  /** Newest first. `search` is a part of the name. */
  loadPage(filter: { search?: string; limit: number; offset: number }): Promise<{
    total: number
    records: OrganisationRecord[]
  }>
  /** Undefined where no organisation of this id was removed. */
  loadRemoved(id: string): Promise<RemovedOrganisation | undefined>
  create(given: NewOrganisation, actor: Actor): Promise<Organisation>
  update(id: string, change: OrganisationChange, actor: Actor): Promise<Organisation>
  /** Throws `conflict` while it has Spaces. Usage records stay. */
  remove(id: string, actor: Actor): Promise<void>
  /** Makes the organisation's one key; the former key is dead here at once and on every other instance within a second. */
  createKey(id: string, actor: Actor): Promise<NewApiKey>
  /**
   * Makes the key of an organisation that has none, once, whoever asks at the same time. True when this call made it. `show`
   * hands it over before it becomes valid; where that fails, or the process dies, there is no key yet.
   */
  createFirstKey(id: string, actor: Actor, show: (key: string) => Promise<void>): Promise<boolean>
  /** Resolves to the secret that signs the calls; a fresh one where none is given. */
  setWebhook(
    id: string,
    webhook: { url: string; secret?: string },
    actor: Actor,
  ): Promise<{ url: string; secret: string }>
  removeWebhook(id: string, actor: Actor): Promise<void>
  /** The secret in clear, for signing; null where the organisation has no webhook. */
  loadWebhookSecret(id: string): Promise<string | null>
  close(): void
}

export interface OrganisationsDependencies {
  store: OrganisationStore
  changeFeed: ChangeSource
  clock: Clock
  log: Log
  secretBox: SecretBox
}

/** Loads all organisations into memory and keeps them fresh by the change feed, which must have been started. */
export async function createOrganisations(dependencies: OrganisationsDependencies): Promise<Organisations> {
  const { store, changeFeed, clock, log, secretBox } = dependencies
  const snapshot = createSnapshot()
  const reloader = await createSnapshotReloader({
    changeFeed,
    topic: organisationsTopic,
    loadAll: store.loadAll,
    loadMany: store.loadMany,
    replaceAll: snapshot.replaceAll,
    replaceMany: snapshot.replaceMany,
  })
  log.info({ organisations: snapshot.size() }, 'organisations loaded')

  async function settle(id: string, found: boolean) {
    if (!found) throw notFound(id)
    await changeFeed.caughtUp()
  }
  const webhookContext = (id: string) => `webhook:${id}`

  return {
    authenticate(key) {
      return isWellFormed(key, 'ptc_') ? snapshot.getByKeyHash(lookupHash(key)) : undefined
    },
    get: snapshot.get,
    all: snapshot.all,
    async loadRecord(id) {
      const [record] = await store.loadMany([id])
      if (!record) throw notFound(id)
      return record
    },
    loadPage: store.loadPage,
    loadRemoved: store.loadRemoved,
    async create(given, actor) {
      const organisation = makeOrganisation(createOrganisationId(), given, clock.now())
      await store.insert(organisation, actor)
      await changeFeed.caughtUp()
      return organisation
    },
    async update(id, change, actor) {
      const nowMs = clock.now()
      let updated: Organisation | undefined
      const found = await store.update(
        id,
        (current) => (updated = changeOrganisation(current, change, nowMs)),
        actor,
        nowMs,
      )
      await settle(id, found)
      return snapshot.get(id) ?? updated!
    },
    async remove(id, actor) {
      await settle(id, await store.remove(id, actor, clock.now()))
    },
    async createKey(id, actor) {
      const { secret, stored } = createCredential('ptc_')
      const createdAt = clock.now()
      await settle(id, await store.replaceKey(id, stored, actor, createdAt))
      return { key: secret, prefix: stored.prefix, lastFour: stored.lastFour, createdAt }
    },
    async createFirstKey(id, actor, show) {
      const { secret, stored } = createCredential('ptc_')
      const made = await store.insertFirstKey(id, stored, actor, clock.now(), () => show(secret))
      await changeFeed.caughtUp()
      return made
    },
    async setWebhook(id, { url, secret = createWebhookSecret() }, actor) {
      const webhook = { url: checkWebhookUrl(url), secretSealed: secretBox.seal(secret, webhookContext(id)) }
      await settle(id, await store.setWebhook(id, webhook, actor, clock.now()))
      return { url: webhook.url, secret }
    },
    async removeWebhook(id, actor) {
      await settle(id, await store.setWebhook(id, null, actor, clock.now()))
    },
    async loadWebhookSecret(id) {
      const sealed = await store.loadWebhookSecret(id)
      return sealed === null ? null : secretBox.open(sealed, webhookContext(id))
    },
    close: reloader.close,
  }
}

/** The rows in memory, found by id and by the hash of the live key. */
function createSnapshot() {
  let byId = new Map<string, OrganisationRecord>()
  let byKeyHash = new Map<string, Organisation>()

  function put(record: OrganisationRecord) {
    byId.set(record.organisation.id, record)
    if (record.keyHash) byKeyHash.set(storedLookupHash(record.keyHash), record.organisation)
  }
  function drop(id: string) {
    const keyHash = byId.get(id)?.keyHash
    if (keyHash) byKeyHash.delete(storedLookupHash(keyHash))
    byId.delete(id)
  }
  return {
    get: (id: string) => byId.get(id)?.organisation,
    getByKeyHash: (hash: string) => byKeyHash.get(hash),
    all: () => byId.values().map((record) => record.organisation),
    size: () => byId.size,
    replaceAll(records: OrganisationRecord[]) {
      byId = new Map()
      byKeyHash = new Map()
      for (const record of records) put(record)
    },
    replaceMany(ids: readonly string[], records: OrganisationRecord[]) {
      for (const id of ids) drop(id)
      for (const record of records) put(record)
    },
  }
}

function notFound(id: string): AppError {
  return new AppError('organisation_not_found', `There is no organisation ${id}.`)
}

/** `whsec_` and 256 random bits. */
function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`
}

function checkWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new AppError('invalid_request', 'url must be an http or https address without a user name and password.', {
      param: 'url',
    })
  }
  return url.href
}
