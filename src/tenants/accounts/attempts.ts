import { AppError, type Clock, lookupHash } from '../../platform/kernel/index.ts'
import type { AttemptRule, AttemptStore } from './attempts.store.ts'

/** What is counted: a list, because clients choose some of the texts. */
export type Subject = readonly string[]

/** What is counted, and how often it may happen. */
export interface Limit extends AttemptRule {
  subject: Subject
}

const keyOf = (subject: Subject) => lookupHash(JSON.stringify(subject))

/** Limits on attempts, counted before the attempt is made. */
export function createAttempts({ store, clock }: { store: AttemptStore; clock: Clock }) {
  async function take({ subject, ...rule }: Limit) {
    const key = keyOf(subject)
    const { isAllowed, windowEndsAt } = await store.take(key, rule, clock.now())
    return { isAllowed, windowEndsAt, giveBack: () => store.giveBack(key, windowEndsAt) }
  }

  return {
    /**
     * Counts one attempt for each limit. Throws `rate_limit_exceeded` for the first one that is used up. Resolves to a function that gives
     * the attempts back, for a secret that was right: then only wrong ones remain counted, however many requests run at once.
     */
    async consume(limits: readonly Limit[]): Promise<() => Promise<void>> {
      const taken: (() => Promise<void>)[] = []
      for (const limit of limits) {
        const { isAllowed, windowEndsAt, giveBack } = await take(limit)
        if (!isAllowed)
          throw new AppError('rate_limit_exceeded', 'There were too many attempts. Try again later.', {
            retryAfterSeconds: Math.max(1, (windowEndsAt.getTime() - clock.now()) / 1000),
          })
        taken.push(giveBack)
      }
      return async () => {
        for (const giveBack of taken) await giveBack()
      }
    },

    /** Reserves what may be used once within `windowMs`. Undefined if it is in use; otherwise the function that frees it. */
    async reserve(subject: Subject, windowMs: number): Promise<(() => Promise<void>) | undefined> {
      const { isAllowed, giveBack } = await take({ subject, maximum: 1, windowMs })
      return isAllowed ? giveBack : undefined
    },

    forget: (subjects: readonly Subject[]) => store.forget(subjects.map(keyOf)),
  }
}
