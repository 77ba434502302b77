import { AppError, clientNetwork, type Clock, lookupHash } from '../../platform/kernel/index.ts'
import type { AttemptRule, AttemptStore } from './attempts.store.ts'
import type { Person } from './person.ts'
import type { SignInEndpoint } from './sign-in-endpoints.ts'

const minuteMs = 60_000

/** Wrong secrets of one person from one place. Enough for typos; 40 guesses per hour find neither a password nor a one-time code. */
const perPlace: AttemptRule = { maximum: 10, windowMs: 15 * minuteMs }
/** Wrong passwords of one e-mail from all unknown devices. NIST SP 800-63B, 5.2.2: at most 100. */
const perEmail: AttemptRule = { maximum: 100, windowMs: 60 * minuteMs }
/** Requests of one client. A proxy in front of the server counts as one client. */
const perClient: AttemptRule = { maximum: 1000, windowMs: 5 * minuteMs }
/** Longer than a one-time code is valid: one step of 30 s before and after its own. The clocks of instances may differ. */
const usedCodeMs = 5 * minuteMs

/** Who sends a request to a sign-in endpoint, as far as the server can prove it. */
export interface Visitor {
  network: string
  /** The person of the session. */
  person: Person | undefined
  /** The id of the person who has given the password, and whose second factor is still to be checked. */
  challenged: string | undefined
  /** The id of the device if the person of the attempt has signed in on it before. */
  device: string | undefined
}

export type SignInLimits = ReturnType<typeof createSignInLimits>

/**
 * The limits of sign-in. Each secret of a person has separate counters: one in each session, one on each known device, and one for all
 * other places. Guesses in one place do not lock the others.
 */
export function createSignInLimits(dependencies: { store: AttemptStore; clock: Clock }) {
  const attempts = createAttempts(dependencies)

  return {
    /** Throws `rate_limit_exceeded`. Clients without a session or a known device share the limit of their network. */
    async countRequest({ network, person, device }: Visitor): Promise<void> {
      const client = person ? ['session', person.sessionId] : device === undefined ? [network] : ['device', device]
      await attempts.consume([{ subject: ['requests', ...client], ...perClient }])
    },

    /** A link is no secret of one person, so uses of links count for the network only. Throws `rate_limit_exceeded`. */
    async countLink(kind: 'invitation' | 'password reset', clientAddress: string): Promise<void> {
      await attempts.consume([{ subject: [kind, clientNetwork(clientAddress)], ...perClient }])
    },

    /** Counts an attempt to prove the secret. Throws `rate_limit_exceeded`. Call the result if the secret was right. */
    countSecret: (kind: NonNullable<SignInEndpoint['secret']>, email: string | undefined, visitor: Visitor) =>
      attempts.consume(secretLimits(kind, email, visitor)),

    /** Reserves a one-time code. Undefined if it was used; otherwise the function to call if the code was wrong. */
    reserveCode: (personId: string, code: string) => attempts.reserve(['used code', personId, code], usedCodeMs),

    /** Ends the lock of an e-mail, for the network of a person who has a new password. */
    unlock: (email: string, clientAddress: string) =>
      attempts.forget(emailLimits(email, clientNetwork(clientAddress)).map(({ subject }) => subject)),
  }
}

function secretLimits(
  kind: NonNullable<SignInEndpoint['secret']>,
  email: string | undefined,
  { network, person, challenged, device }: Visitor,
): Limit[] {
  const onDevice = device === undefined ? [] : ['device', device]
  if (email !== undefined)
    return device === undefined
      ? emailLimits(email, network)
      : [{ subject: ['password', 'email', email, ...onDevice], ...perPlace }]
  const places: Subject[] = []
  if (person) places.push(['session', person.sessionId])
  if (challenged !== undefined) places.push(['person', challenged, ...onDevice])
  return places.map((place) => ({ subject: [kind, ...place], ...perPlace }))
}

function emailLimits(email: string, network: string): Limit[] {
  return [
    { subject: ['password', 'email', email, 'network', network], ...perPlace },
    { subject: ['password', 'email', email], ...perEmail },
  ]
}

/** What is counted: a list, because clients choose some of the texts. */
type Subject = readonly string[]

/** What is counted, and how often it may happen. */
interface Limit extends AttemptRule {
  subject: Subject
}

const keyOf = (subject: Subject) => lookupHash(JSON.stringify(subject))

/** Limits on attempts, counted before the attempt is made. */
function createAttempts({ store, clock }: { store: AttemptStore; clock: Clock }) {
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
