import { timingSafeEqual } from 'node:crypto'
import {
  type ChangeSource,
  type Clock,
  createCredential,
  createSnapshotReloader,
  isWellFormed,
  lookupHash,
  storedLookupHash,
} from '../../platform/kernel/index.ts'
import { type Actor, serviceActor } from './admin-log.ts'
import { type OperatorTokenStore, operatorTokenTopic } from './operator-tokens.store.ts'

export type OperatorTokens = Awaited<ReturnType<typeof createOperatorTokens>>

export interface OperatorTokensDependencies {
  store: OperatorTokenStore
  changeFeed: ChangeSource
  clock: Clock
  /** A token set by the configuration: any text that src/app/config/config.ts accepts. */
  configuredToken?: string | undefined
}

/** The credentials of the operator. The change feed must be started. */
export async function createOperatorTokens(dependencies: OperatorTokensDependencies) {
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
    snapshot: { replaceAll: keep, replaceMany: (_ids, hashes) => keep(hashes) },
  })

  return {
    /** True for the stored and for the configured token. Reads memory. */
    authenticate(token: string): boolean {
      const given = lookupHash(token)
      if (configuredHash !== undefined && equalHashes(given, configuredHash)) return true
      return storedHash !== undefined && isWellFormed(token, 'pto_') && equalHashes(given, storedHash)
    },
    /**
     * Creates the first token, once per database, even when several instances start at the same time. Resolves to true if this call
     * created it. `show` presents it to the operator before it becomes valid. If `show` fails or the process ends, no token is stored.
     */
    async ensureFirst(show: (token: string) => Promise<void>): Promise<boolean> {
      if (storedHash !== undefined || configuredHash !== undefined) return false
      const { secret, stored } = createCredential('pto_')
      const made = await store.insertFirst(stored, serviceActor, clock.now(), () => show(secret))
      await changeFeed.caughtUp()
      return made
    },
    /** Replaces the stored token and resolves to the new one. A configured token stays valid. */
    async rotate(actor: Actor): Promise<string> {
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
