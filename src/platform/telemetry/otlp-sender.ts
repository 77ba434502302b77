import { setTimeout as wait } from 'node:timers/promises'
import type { ISerializer } from '@opentelemetry/otlp-transformer'
import { type Log, userAgent } from '../kernel/index.ts'
import type { DropReason, Send, Signal } from './export-queue.ts'

export interface SenderOptions {
  /** Base address; the path of the signal is appended, as the specification of OTLP exporters requires. */
  endpoint: string
  protocol: 'http/protobuf' | 'http/json'
  /** May contain a secret. */
  headers: Readonly<Record<string, string>>
  fetch: typeof fetch
  timeoutMs: number
  log: Log
  /** Counts what was lost. */
  dropped(signal: Signal, reason: DropReason, count: number): void
}

/** Answers after which the specification of OTLP allows another try. */
const passingStatuses = new Set([429, 502, 503, 504])
const firstPauseMs = 1_000
const logEveryMs = 60_000

export interface OtlpSender {
  /** A sender of one signal; tries again until `timeoutMs` is over. */
  of<Item, Answer>(signal: Signal, serializer: ISerializer<Item, Answer>): Send<Item>
  /** From now on nothing is tried again. */
  hurry(): void
  dropped(signal: Signal, reason: DropReason, count: number): void
}

/** Requests to the collector. They begin no spans, so the export is never traced. */
export function createOtlpSender(options: SenderOptions): OtlpSender {
  const { protocol, timeoutMs } = options
  const dropped = createDropLog(options)
  const hurried = new AbortController()
  const headers = {
    'user-agent': userAgent,
    'content-type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
    ...options.headers,
  }

  async function post(url: string, body: Uint8Array, signal: AbortSignal): Promise<DropReason | 'again' | Uint8Array> {
    try {
      // A redirect could lead to an address that the settings would not accept.
      const answer = await options.fetch(url, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'manual',
      } as RequestInit)
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
      await answer.body?.cancel()
      return passingStatuses.has(answer.status) ? 'again' : 'status'
    } catch {
      return signal.aborted ? 'timeout' : 'unreachable'
    }
  }

  return {
    of: (kind, serializer) => {
      const url = `${options.endpoint.replace(/\/+$/, '')}/v1/${kind}`
      return async (item, count) => {
        const body = serializer.serializeRequest(item)
        if (!body) return true
        const deadline = AbortSignal.timeout(timeoutMs)
        for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
          const outcome = await post(url, body, deadline)
          if (outcome instanceof Uint8Array) {
            const rejected = rejectedOf(serializer, outcome)
            if (rejected > 0) dropped(kind, 'rejected', rejected)
            return true
          }
          const mayRepeat = outcome === 'again' || outcome === 'unreachable'
          if (
            !mayRepeat ||
            hurried.signal.aborted ||
            !(await pause(pauseMs, AbortSignal.any([deadline, hurried.signal])))
          ) {
            dropped(kind, outcome === 'again' ? 'status' : outcome, count)
            return false
          }
        }
      }
    },
    hurry: () => hurried.abort(),
    dropped,
  }
}

/** False: the signal ended it. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    // It must not keep the process alive.
    await wait(ms, undefined, { signal, ref: false })
    return true
  } catch {
    return false
  }
}

interface PartialSuccess {
  partialSuccess?: { rejectedSpans?: unknown; rejectedDataPoints?: unknown }
}

/** What the collector took the request without. An answer that cannot be read counts as a full success. */
function rejectedOf<Answer>(serializer: ISerializer<never, Answer>, body: Uint8Array): number {
  if (body.length === 0) return 0
  try {
    const { partialSuccess } = serializer.deserializeResponse(body) as PartialSuccess
    return Number(partialSuccess?.rejectedSpans ?? partialSuccess?.rejectedDataPoints ?? 0) || 0
  } catch {
    return 0
  }
}

/** Counts what is lost, and writes one line a minute at most. */
function createDropLog({ log, dropped }: Pick<SenderOptions, 'log' | 'dropped'>): SenderOptions['dropped'] {
  let loggedMs = -Infinity
  let since = 0
  return (signal, reason, count) => {
    dropped(signal, reason, count)
    since += count
    const nowMs = performance.now()
    if (nowMs - loggedMs < logEveryMs) return
    loggedMs = nowMs
    log.warn({ signal, reason, dropped: since }, 'telemetry is lost: the collector has not taken it')
    since = 0
  }
}
