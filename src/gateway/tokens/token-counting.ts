import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '../../platform/kernel/index.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { sum, TokenThread, unitsOf } from './token-thread.ts'

/**
 * Counts tokens without blocking the event loop. Small texts are counted at once, large ones in a thread, which starts at the first
 * call, shares the vocabulary (5 MB) with this one and ends when it has been idle. Organisations take turns in it. What is not counted within the time limit, or
 * does not fit into the queue, is estimated: a count always comes.
 */
export type TokenCounting = ReturnType<typeof createTokenCounting>

export interface TokenCountingLimits {
  /** Texts of at most this size are counted in the calling thread: 3 ms, 20 ms for the worst texts. */
  inlineUnits: number
  /**
   * UTF-16 units that wait for the thread; more are estimated, and of an organisation of which more waits than is free. Three of the largest
   * requests.
   */
  waitingUnits: number
  /** From the call to its count. The thread counts 2 million units of prose a second, of the worst texts 500,000. */
  timeLimitMs: number
  /** The thread ends after this time without work and gives its memory back. */
  idleMs: number
}

const defaultLimits: TokenCountingLimits = {
  inlineUnits: 8_000,
  waitingUnits: 100_000_000,
  timeLimitMs: 5_000,
  idleMs: 60_000,
}

/** UTF-16 units that the thread counts in one go: half a second for the worst texts. Longer texts are cut, at a token each. */
const batchUnits = 250_000

export function createTokenCounting({
  log,
  limits: given = {},
  program = new URL('./token-worker.ts', import.meta.url),
}: {
  log: Log
  limits?: Partial<TokenCountingLimits>
  /** Of the thread. Tests give one that fails. */
  program?: URL
}) {
  const limits = { ...defaultLimits, ...given }
  const { waitingUnits: maximumUnits, timeLimitMs, idleMs } = limits
  const thread = new TokenThread({ program, log, maximumUnits, timeLimitMs, idleMs })
  let closed = false
  return {
    /** Tokens of all texts together. `owner`: the organisation whose turns in the thread they take. */
    async count(texts: readonly string[], owner: string): Promise<number> {
      const units = unitsOf(texts)
      const { counter } = thread
      if (counter && units <= limits.inlineUnits) return sum(texts, counter.count)
      if (units === 0) return 0
      const batches = batchesOf(texts)
      if (closed || !thread.hasRoom(units, owner)) {
        log.warn(
          { units, waitingUnits: thread.waitingUnits },
          'tokens were estimated: too much text waits to be counted',
        )
        return estimate(batches)
      }
      const { tokens, uncounted } = await thread.count(batches, units, owner)
      if (uncounted.length === 0) return tokens
      const uncountedUnits = sum(uncounted, unitsOf)
      log.warn({ units, uncounted: uncountedUnits }, 'tokens were estimated: counting would take too long')
      return tokens + (await estimate(uncounted))
    },
    close(): Promise<void> {
      closed = true
      return thread.close()
    },
  }
}

async function estimate(batches: readonly string[][]): Promise<number> {
  let tokens = 0
  for (const batch of batches) {
    tokens += sum(batch, (text) => estimateTokens(text).estimate)
    await nextTurn()
  }
  return tokens
}

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = []
  let room = 0
  for (const text of texts) {
    for (let start = 0; start < text.length; start += batchUnits) {
      const part = text.slice(start, start + batchUnits)
      if (part.length > room) {
        batches.push([])
        room = batchUnits
      }
      batches.at(-1)!.push(part)
      room -= part.length
    }
  }
  return batches
}
