import { randomBytes } from 'node:crypto'
import {
  assertVersion,
  type ChangeSource,
  type Clock,
  createCredential,
  createOrganisationId,
  createSnapshot,
  createSnapshotReloader,
  describeError,
  isWellFormed,
  type Log,
  lookupHash,
  type NetworkRule,
  type OrganisationId,
  type SecretBox,
  storedLookupHash,
  invalidField,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import { noOrganisation } from './administrators.ts'
import { versionedSettings } from './describe-organisation.ts'
import {
  changeOrganisation,
  makeOrganisation,
  type NewOrganisation,
  type OrganisationChange,
  switchModels,
} from './organisation-change.ts'
import type { Organisation, OrganisationRecord } from './organisation.ts'
import { type KeyUse, organisationsTopic, type OrganisationStore, webhookSecretsColumn } from './organisations.store.ts'

/** An API key in clear text. Only its hash is stored. */
interface NewApiKey {
  key: string
  prefix: string
  lastFour: string
  createdAt: number
  createdBy: string
}

/** `authenticate`, `get` and `all` read memory. A change is visible on this instance before its promise resolves. */
export type Organisations = Awaited<ReturnType<typeof createOrganisations>>

interface OrganisationsDependencies {
  store: OrganisationStore
  changeFeed: ChangeSource
  clock: Clock
  log: Log
  secretBox: SecretBox
  /** Addresses that webhooks may have. */
  webhookRule: NetworkRule
}

/** Loads all organisations into memory and reloads those that change. The change feed must be started. */
export async function createOrganisations(dependencies: OrganisationsDependencies) {
  const { store, changeFeed, clock, log } = dependencies
  const snapshot = createSnapshot(({ organisation }: Row) => organisation.id, {
    keyHash: ({ keyHash }) => keyHash && storedLookupHash(keyHash),
  })
  const reloader = await createSnapshotReloader({
    changeFeed,
    topic: organisationsTopic,
    loadAll: async () => (await store.loadAll()).map(toRow),
    loadMany: async (ids) => (await store.loadMany(ids)).map(toRow),
    snapshot,
  })
  log.info({ organisations: snapshot.size() }, 'organisations loaded')
  const get = (id: string) => snapshot.get(id)?.organisation
  const keyUses = createKeyUses({ write: store.noteKeyUses, clock, log })

  async function finishChange(id: string, found: boolean) {
    if (!found) throw noOrganisation(id)
    await changeFeed.caughtUp()
  }

  return {
    /** The organisation with this current key. */
    authenticate(key: string): Organisation | undefined {
      const found = isWellFormed(key, 'ptc_') ? snapshot.find('keyHash', lookupHash(key)) : undefined
      if (found?.usedKey) keyUses.note(found.usedKey)
      return found?.organisation
    },
    get,
    /** All organisations, for background work such as budget periods. */
    all: (): Iterable<Organisation> => snapshot.all().map(({ organisation }) => organisation),
    ...createRecordReads(store),
    async create(given: NewOrganisation, actor: Actor): Promise<Organisation> {
      const organisation = makeOrganisation(createOrganisationId(), given, clock.now())
      await store.insert(organisation, actor)
      await changeFeed.caughtUp()
      return organisation
    },
    /** `ifMatch`: as `assertVersion` has it. */
    async update(id: string, change: OrganisationChange, actor: Actor, ifMatch?: string): Promise<Organisation> {
      const nowMs = clock.now()
      let updated: Organisation | undefined
      const found = await store.update(
        id,
        (current) => {
          assertVersion(ifMatch, versionedSettings(current))
          return (updated = changeOrganisation(current, change, nowMs))
        },
        actor,
        nowMs,
      )
      await finishChange(id, found)
      return get(id) ?? updated!
    },
    /** Enables and disables models by canonical id; the others keep their state, also when calls are concurrent. */
    async switchModels(
      id: string,
      ids: { enable: readonly string[]; disable: readonly string[] },
      actor: Actor,
      ifMatch?: string,
    ): Promise<void> {
      const nowMs = clock.now()
      const change = (current: Organisation) => {
        assertVersion(ifMatch, versionedSettings(current))
        return changeOrganisation(current, { disabledModels: switchModels(current.disabledModels, ids) }, nowMs)
      }
      await finishChange(id, await store.update(id, change, actor, nowMs))
    },
    /** Throws `conflict` while the organisation has Spaces. Usage records stay. */
    async remove(id: string, actor: Actor): Promise<void> {
      await finishChange(id, await store.remove(id, actor, clock.now()))
    },
    ...createKeyChanges(dependencies, finishChange),
    ...createWebhookChanges(dependencies, finishChange),
    async close(): Promise<void> {
      reloader.close()
      await keyUses.close()
    },
  }
}

/** Waits until a change is visible here. Throws `organisation_not_found` where there was nothing to change. */
type FinishChange = (id: string, found: boolean) => Promise<void>

function createKeyChanges({ store, changeFeed, clock }: OrganisationsDependencies, finishChange: FinishChange) {
  return {
    /** Replaces the organisation's key. The former key is invalid here at once and on other instances within a second. */
    async createKey(id: string, actor: Actor): Promise<NewApiKey> {
      const { secret, stored } = createCredential('ptc_')
      const createdAt = clock.now()
      await finishChange(id, await store.replaceKey(id, stored, actor, createdAt))
      return { key: secret, prefix: stored.prefix, lastFour: stored.lastFour, createdAt, createdBy: actor.name }
    },
    /**
     * Creates the key of an organisation that has none, once, also when calls are concurrent. Resolves to true if this call created it.
     * `show` presents it before it becomes valid. If `show` fails or the process ends, no key is stored.
     */
    async createFirstKey(id: string, actor: Actor, show: (key: string) => Promise<void>): Promise<boolean> {
      const { secret, stored } = createCredential('ptc_')
      const made = await store.insertFirstKey(id, stored, actor, clock.now(), () => show(secret))
      await changeFeed.caughtUp()
      return made
    },
  }
}

function createWebhookChanges(
  { store, secretBox, webhookRule, clock }: OrganisationsDependencies,
  finishChange: FinishChange,
) {
  const { contextOf } = webhookSecretsColumn
  const checkOf = (ifMatch: string | undefined) => (current: Organisation) =>
    assertVersion(ifMatch, versionedSettings(current))
  return {
    /** Resolves to the signing secret, which is generated if none is given. */
    async setWebhook(
      id: string,
      { url, secret = createWebhookSecret() }: { url: string; secret?: string },
      actor: Actor,
      ifMatch?: string,
    ): Promise<{ url: string; secret: string }> {
      const webhook = { url: checkWebhookUrl(url, webhookRule), secretSealed: secretBox.seal(secret, contextOf(id)) }
      await finishChange(id, await store.setWebhook(id, webhook, actor, clock.now(), checkOf(ifMatch)))
      return { url: webhook.url, secret }
    },
    async removeWebhook(id: string, actor: Actor, ifMatch?: string): Promise<void> {
      await finishChange(id, await store.setWebhook(id, null, actor, clock.now(), checkOf(ifMatch)))
    },
    /** The signing secret in clear text; null if the organisation has no webhook. */
    async loadWebhookSecret(id: string): Promise<string | null> {
      const sealed = await store.loadWebhookSecret(id)
      return sealed === null ? null : secretBox.open(sealed, contextOf(id))
    },
  }
}

function createRecordReads(store: OrganisationStore) {
  return {
    /** Throws `organisation_not_found`. */
    async loadRecord(id: string): Promise<OrganisationRecord> {
      const [record] = await store.loadMany([id], id)
      if (!record) throw noOrganisation(id)
      return record
    },
    /** Those of the ids that exist, in no order. */
    loadRecords: (ids: readonly string[]): Promise<OrganisationRecord[]> => store.loadMany(ids),
    loadPage: store.loadPage,
    loadRemoved: store.loadRemoved,
  }
}

/** A record in memory, with the key whose uses are noted. */
interface Row extends OrganisationRecord {
  readonly usedKey: UsedKey | null
}

function toRow(record: OrganisationRecord): Row {
  const { organisation, keyHash } = record
  return { ...record, usedKey: keyHash && { organisationId: organisation.id, hash: keyHash, usedMinute: 0 } }
}

/** `whsec_` and 256 random bits. */
function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`
}

/** Throws `invalid_request` on an address that webhooks may not have. */
export function checkWebhookUrl(text: string, rule: NetworkRule): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw invalidField('url', 'url must be an http or https address without a user name and password.')
  }
  if (rule.hostRefusal(url.hostname)) {
    throw invalidField(
      'url',
      'url must be on the public internet or in a network of the setting network.webhookNetworks.',
    )
  }
  return url.href
}

/** The last use of a key is written within this time; a process that is killed loses it. */
const writeEveryMs = 10_000
const minuteMs = 60_000

/** A key in memory. */
interface UsedKey {
  readonly organisationId: OrganisationId
  readonly hash: Uint8Array
  /** Minutes since the epoch: the last use that this instance has noted. */
  usedMinute: number
}

/**
 * Notes when each key was last used, in whole minutes. A request compares two numbers; the first one of a key and minute also notes the
 * key. One statement per interval writes all noted keys.
 */
function createKeyUses({ write, clock, log }: { write: (uses: KeyUse[]) => Promise<void>; clock: Clock; log: Log }) {
  /** At most one entry per key. */
  let noted = new Set<UsedKey>()
  let writing = Promise.resolve()

  async function writeNoted() {
    if (noted.size === 0) return
    const keys = noted
    noted = new Set()
    try {
      await write(
        [...keys].map(({ organisationId, hash, usedMinute }) => ({
          organisationId,
          hash,
          usedAtMs: usedMinute * minuteMs,
        })),
      )
    } catch (error) {
      for (const key of keys) noted.add(key)
      log.warn({ reason: describeError(error) }, 'the last use of keys could not be written; retrying')
    }
  }
  const flush = () => (writing = writing.then(writeNoted))
  const stop = clock.every(writeEveryMs, () => void flush())

  return {
    note(key: UsedKey): void {
      const minute = Math.floor(clock.now() / minuteMs)
      if (key.usedMinute === minute) return
      key.usedMinute = minute
      noted.add(key)
    },
    flush,
    /** Writes what is noted. */
    async close(): Promise<void> {
      stop()
      await flush()
    },
  }
}
