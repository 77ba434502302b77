import { AppError, FairShares } from '../kernel/index.ts'

/**
 * Bounds the memory of request bodies. Bytes count from their arrival until the response ends, because a stream keeps its prompt.
 * One organisation may use half of it. What it may use shrinks with what is free, so that several busy ones leave room for the next one.
 */
export interface BodyBudget {
  /** Opens the account of one request. `owner` is its organisation. */
  open(owner: string): BodyAccount
}

export interface BodyAccount {
  /** Throws `overloaded` or `rate_limit_exceeded` if there is no room for `bytes` more. Counts nothing. */
  assertRoom(bytes: number): void
  /** Counts bytes that have arrived; throws like `assertRoom`. */
  take(bytes: number): void
  /** Releases all counted bytes. */
  close(): void
}

const retryAfterSeconds = 2
/**
 * An organisation may use so many times what is left (dynamic thresholds, as FairShares, with α = 2): two busy ones get two fifths each. More than once, so that
 * a body of half the budget fits next to small ones of others.
 */
const timesFree = 2

export function createBodyBudget(maximumBytes: number): BodyBudget {
  const maximumBytesOfOwner = Math.floor(maximumBytes / 2)
  const shares = new FairShares(maximumBytes)
  return {
    open(owner) {
      let taken = 0
      const assertRoom = (bytes: number) => {
        const ofOwner = shares.usedBy(owner) + bytes
        if (ofOwner > maximumBytesOfOwner) {
          throw new AppError(
            'rate_limit_exceeded',
            `The request bodies that this organisation has in flight would exceed ${maximumBytesOfOwner} bytes. Send large requests one after another.`,
            { retryAfterSeconds },
          )
        }
        if (ofOwner > timesFree * (maximumBytes - shares.total - bytes)) {
          throw new AppError('overloaded', 'Too many large requests are in flight. Try again in a moment.', {
            retryAfterSeconds,
            internal: `request bodies in flight would exceed ${maximumBytes} bytes`,
          })
        }
      }
      return {
        assertRoom,
        take(bytes) {
          assertRoom(bytes)
          taken += bytes
          shares.take(owner, bytes)
        },
        close() {
          shares.release(owner, taken)
          taken = 0
        },
      }
    },
  }
}
