/**
 * The port to traces and GenAI metrics. Its methods take ids, numbers and words of closed lists only, so that no text of a client, a
 * document or a model gets into a span. It is null unless telemetry is configured: code that is traced checks for null, and does nothing else.
 */
export interface Telemetry {
  /** Begins the trace of a request, or continues that of a valid `traceparent`. */
  request(start: { method: string; requestId: string; traceparent: string | undefined }): RequestSpan
  /** One call of a model with its retries. `model` is an id of the catalogue, never the text of a client. */
  operation(start: OperationStart): Operation
  /** An answer of a Space. Null where the current trace is not sampled. */
  agent(start: { spaceId: string; requestId: string; isAgentic: boolean }): Step | null
  /** A tool call of an agentic answer; `name` is one of our tools. */
  tool(name: string): Step | null
  /** A search in a Space. */
  retrieval(spaceId: string): Step | null
  step(name: StepName): Step | null
  /** Runs a background job as a separate trace, linked to the span that enqueued it. */
  job<T>(start: { kind: string; attempt: number; traceparent: string | undefined }, work: () => Promise<T>): Promise<T>
  /** The current span as a `traceparent`; undefined outside of sampled traces. */
  current(): string | undefined
}

/** Other parts of an answer. */
export type StepName = 'rewrite' | 'rerank'

export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** Spans that `work` and what it awaits begin are below this one. */
  run<T>(work: () => T): T
  /** The connection of the answer is free, or the client has left. */
  end(end: {
    /** As it is registered, such as `/v1/documents/:id`. */
    route: string
    status: number
    organisationId?: string | undefined
    /** Code of an AppError. */
    code?: string | undefined
  }): void
}

export interface OperationStart {
  kind: 'chat' | 'embedding' | 'rerank'
  model: string
  surface: string
  stream: boolean
  requestId: string
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  topP?: number | undefined
}

export interface Operation {
  /** Before each call of a provider. Null where the trace is not sampled. `number` is 1 for the first. */
  attempt(attempt: { deploymentId: string; hosting: string; number: number; peer: Peer }): AttemptSpan | null
  event(name: 'ledger.hold' | 'ledger.hold_durable'): void
  /** The call is being settled; `recorded` ends the span. Only the first of `answered` and `failed` counts. */
  answered(answer: OperationAnswer, recorded: Promise<unknown>): void
  /** Nothing is billed. `code` is that of an AppError. */
  failed(code: string): void
}

export interface OperationAnswer {
  deploymentId: string
  hosting: string
  /** The name of the model at the provider. */
  wireModel: string
  ending: string
  finishReason: string | null
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number; cacheWriteTokens: number }
  /** From the start of the call; null where nothing was streamed. */
  firstTokenMs?: number | null | undefined
}

/** The other side of a call. */
export interface Peer {
  /** As `gen_ai.provider.name`. */
  readonly system: string
  /** Host and port; absent where the settings name none. */
  readonly address?: string
  readonly port?: number
}

export interface AttemptSpan {
  /** For the provider's request; undefined unless the operator lets traces continue there. */
  readonly traceparent: string | undefined
  /** `outcome`: `answered`, or the class of the error. */
  end(outcome: string, status: number | null): void
}

export interface Step {
  run<T>(work: () => T): T
  /** `count`: what was found. `errorType`: a code or a class, never a message. */
  end(result?: { count?: number | undefined; errorType?: string | undefined }): void
}

/** Runs `work` within a step, and ends the step with it. */
export async function runStep<T>(
  step: Step | null | undefined,
  work: () => Promise<T>,
  count?: (result: T) => number,
): Promise<T> {
  if (!step) return work()
  try {
    const result = await step.run(work)
    step.end({ count: count?.(result) })
    return result
  } catch (error) {
    step.end({ errorType: errorTypeOf(error) })
    throw error
  }
}

/** Runs each turn of a generator within a step, and ends the step with it. */
export async function* followStep<T>(step: Step, events: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  let errorType: string | undefined = 'client_closed'
  try {
    for (;;) {
      const next = await step.run(() => events.next())
      if (next.done) break
      yield next.value
    }
    errorType = undefined
  } catch (error) {
    errorType = errorTypeOf(error)
    throw error
  } finally {
    // Reached as well when the reader stops iterating.
    await step.run(() => events.return())
    step.end({ errorType })
  }
}

/** The code of an error, or its class; messages may quote what was sent. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  if (typeof code === 'string' && /^[\w.]{1,64}$/.test(code)) return code
  return typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : '_OTHER'
}

/** The log of all rooms. Fields never hold prompts, answers, document text or secrets. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Log
}

export type LogFields = Record<string, unknown>

/** A log that drops everything, for tests and scripts. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
}
