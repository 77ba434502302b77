import type { ReencryptionBody } from '../../contract/operator.ts'
import type { Clock } from '../../platform/kernel/index.ts'
import type { Actor } from './admin-log.ts'

/** Values that are encrypted with the secret key, by what they are. */
export type ReencryptedKind = keyof ReencryptionBody['kinds']

/** Counts of values. `unreadable`: under neither key. */
export type Reencrypted = Omit<ReencryptionBody, 'kinds'>

export interface ReencryptionDependencies {
  /** Each encrypts the values of its kind again. May run at the same time as others, and again after a kill. */
  kinds: Readonly<Record<ReencryptedKind, () => Promise<Reencrypted>>>
  record: (actor: Actor, nowMs: number, counts: Reencrypted) => Promise<void>
  clock: Clock
}

export type Reencryption = ReturnType<typeof createReencryption>

/**
 * Encrypts what is stored under the second secret key with the first one, so that the second can be taken away. Each value is replaced by itself: after a
 * kill the rest is still under the second key, and a repeat continues.
 */
export function createReencryption({ kinds, record, clock }: ReencryptionDependencies) {
  return {
    async run(actor: Actor): Promise<ReencryptionBody> {
      const total = { reencrypted: 0, unchanged: 0, unreadable: 0 }
      const done: Partial<ReencryptionBody['kinds']> = {}
      for (const [kind, reencrypt] of Object.entries(kinds) as [ReencryptedKind, () => Promise<Reencrypted>][]) {
        const counts = await reencrypt()
        done[kind] = counts
        total.reencrypted += counts.reencrypted
        total.unchanged += counts.unchanged
        total.unreadable += counts.unreadable
      }
      await record(actor, clock.now(), total)
      return { ...total, kinds: done as ReencryptionBody['kinds'] }
    },
  }
}
