import type { Caller, CallRecord } from './recorded-call.ts'
import { sendRecorded } from './recorded-call.ts'
import type { PlannedCall, PlannedProvider } from './planned-provider.ts'

/** Generates calls of every kind from a seed: plain and streamed, short and long, capped or not, with clients that disconnect. */
export function drawCall(random: () => number, number: number): PlannedCall {
  const stream = random() < 0.6
  const slow = stream && random() < 0.3
  const words = slow ? 60 + Math.floor(random() * 140) : 1 + Math.floor(random() * 60)
  return {
    number,
    stream,
    words,
    headersAfterMs: Math.floor(random() * 60),
    pauseMs: slow ? 20 : stream && random() < 0.5 ? 3 : 0,
    promptTokens: 5 + Math.floor(random() * 10),
    sendsUsage: random() < 0.85,
    capTokens: random() < 0.3 ? 20 + Math.floor(random() * 400) : null,
    hangUpAfterWords: stream && random() < 0.15 ? 1 + Math.floor(random() * words) : null,
  }
}

export interface Load {
  /** Resolves after this many more calls have ended. */
  over(calls: number): Promise<void>
  /** Stops new calls; resolves when the running ones have ended. */
  stop(): Promise<void>
}

export interface LoadOptions {
  provider: PlannedProvider
  organisations: readonly Caller[]
  random: () => number
  records: CallRecord[]
  parallel: number
  nextNumber(): number
  /** Target of a call; undefined while there is none. */
  url(): string | undefined
}

/** Keeps this many calls running until it is stopped. */
export function startLoad(options: LoadOptions): Load {
  const { provider, organisations, random, records, parallel, nextNumber } = options
  const stopping = new AbortController()
  const waiting = new Set<{ until: number; resolve(): void }>()
  const worker = async () => {
    while (!stopping.signal.aborted) {
      const url = options.url()
      if (url === undefined) return
      const organisation = organisations[Math.floor(random() * organisations.length)]!
      const call = provider.planned(drawCall(random, nextNumber()))
      let record = await sendRecorded(url, organisation, call)
      records.push(record)
      const other = options.url()
      if (record.status === null && other !== undefined) {
        // Like SDKs: a call without a response is sent again, to a running process.
        record = await sendRecorded(other, organisation, call)
        records.push(record)
      }
      for (const waiter of waiting) if (records.length >= waiter.until) waiter.resolve()
      // An exhausted budget is refused at once: wait instead of looping.
      if (record.status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const workers = Promise.all(Array.from({ length: parallel }, worker))
  return {
    over: (calls) =>
      new Promise((resolve) => {
        if (calls === 0) resolve()
        else waiting.add({ until: records.length + calls, resolve })
      }),
    async stop() {
      stopping.abort()
      await workers
    },
  }
}
