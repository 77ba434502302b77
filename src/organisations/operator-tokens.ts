import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/index.ts'
import type { Actor } from './admin-log.ts'
import { createCredential, isWellFormed, lookupHash, storedLookupHash } from './credential.ts'
import { type OperatorTokenStore, operatorTokenTopic } from './operator-tokens.store.ts'
import { type ChangeSource, createSnapshotReloader } from './snapshot-reloader.ts'

export interface OperatorTokens {
  /** True for the stored token and for the configured one; from memory. */
  authenticate(token: string): boolean
  /** Makes the first token and resolves to it, once in the life of the database; otherwise to undefined. */
  ensureFirst(): Promise<string | undefined>
  /** Replaces the stored token; resolves to the new one, shown once. A configured token stays valid beside it. */
  rotate(actor: Actor): Promise<string>
  close(): void
}

export interface OperatorTokensDependencies {
  store: OperatorTokenStore
  changeFeed: ChangeSource
  clock: Clock
  /** A token set by the configuration; any text that src/config.ts lets pass. */
  configuredToken?: string | undefined
}

/** The operator's credentials. The change feed must have been started. */
export async function createOperatorTokens(dependencies: OperatorTokensDependencies): Promise<OperatorTokens> {
  const { store, changeFeed, clock, configuredToken } = dependencies
  const configuredHash = configuredToken === undefined ? undefined : lookupHash(configuredToken)
  let storedHash: string | undefined

  const reload = async () => {
    const hash = await store.loadHash()
    return hash === null ? [] : [storedLookupHash(hash)]
  }
  const keep = (hashes: string[]) => {
    storedHash = hashes[0]
  }
  const reloader = await createSnapshotReloader({
    changeFeed,
    topic: operatorTokenTopic,
    loadAll: reload,
    loadMany: reload,
    replaceAll: keep,
    replaceMany: (_ids, hashes) => keep(hashes),
  })

  return {
    authenticate(token) {
      const given = lookupHash(token)
      if (configuredHash !== undefined && equalHashes(given, configuredHash)) return true
      return storedHash !== undefined && isWellFormed(token, 'pto_') && equalHashes(given, storedHash)
    },
    async ensureFirst() {
      if (storedHash !== undefined || configuredHash !== undefined) return undefined
      const { secret, stored } = createCredential('pto_')
      const made = await store.insertFirst(stored, { name: 'service', requestId: null }, clock.now())
      await changeFeed.caughtUp()
      return made ? secret : undefined
    },
    async rotate(actor) {
      const { secret, stored } = createCredential('pto_')
      await store.replace(stored, actor, clock.now())
      await changeFeed.caughtUp()
      return secret
    },
    close: reloader.close,
  }
}

function equalHashes(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
