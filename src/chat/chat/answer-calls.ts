import type { KeptRoom, Receipt } from '../../gateway/billing/index.ts'
import type { ProviderMessage, ProviderRequest, ReasoningReplay } from '../../gateway/providers/index.ts'
import { AppError, type RequestId } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'
import type { CompletionEvent } from '../../gateway/gateway/index.ts'
import { maximumArgumentsLength, type ToolCall, toSentCall } from './tools/tool.ts'

/** Limits of the tools of one agentic answer. They bound its steps, time and money; docs/use/chat.md states them. */
export const toolLimits = {
  /** Rounds of calls after the first search; each is followed by a call of the model. */
  rounds: 6,
  callsPerRound: 4,
  /** No round begins later than this after the beginning of the answer. */
  answerMs: 90_000,
  callMs: 20_000,
  /** UTF-8 bytes of all results; no call runs above it. */
  resultBytes: 120_000,
  /** Uses of tools of a Space's own. */
  ownUses: 8,
}

/**
 * Money for the last call of an answer. It is set aside before each call that comes earlier, so that rewriting and tools cannot use up
 * the budget that the answer itself needs.
 */
export type AnswerRoom = ReturnType<typeof createAnswerRoom>

export function createAnswerRoom(
  dependencies: Pick<AnswerDependencies, 'completions' | 'findOrganisation'>,
  call: AnswerCall,
  { model, whenExhausted }: Pick<PreparedAnswer, 'model' | 'whenExhausted'>,
) {
  let room: KeptRoom | undefined
  return {
    /**
     * Sets the cost of this request aside, with `furtherPromptTokens` for what is not in it yet. False where the budget does not cover it:
     * the next call has to be the last one. What was set aside before stays then.
     */
    async keep(request: ProviderRequest, furtherPromptTokens: number = 0): Promise<boolean> {
      // The operator pays, whatever the budget has.
      if (whenExhausted === 'write_off') return true
      const next = await dependencies.completions.keepRoom({
        requestId: call.requestId,
        organisation: currentOrganisation(dependencies, call),
        surface: 'space_chat',
        spaceId: call.space.id,
        model,
        request,
        furtherPromptTokens,
        room,
        spending: call.spending,
        signal: call.signal,
      })
      if (next) room = next
      return next !== null
    },
    /** For the last call, which uses it up. */
    kept: (): KeptRoom | undefined => room,
    release: (): void => room?.release(),
  }
}

/** The organisation as it is now: an answer may call the model minutes after its request. */
export function currentOrganisation(
  { findOrganisation }: Pick<AnswerDependencies, 'findOrganisation'>,
  { organisation }: Pick<AnswerCall, 'organisation'>,
): Organisation {
  const current = findOrganisation(organisation.id)
  if (!current) throw notOffered()
  return current
}

/** Throws `endpoint_not_found` once the Space is no longer offered. */
export function assertOffered({ isOffered }: Pick<AnswerCall, 'isOffered'>): void {
  if (isOffered?.() === false) throw notOffered()
}

function notOffered(): AppError {
  return new AppError('endpoint_not_found', 'The Space was unpublished or removed while it answered.')
}

/**
 * A turn without tools follows the last round of tools; where the budget refuses it, one follows with the money set aside. A model that calls
 * tools all the same gets one more.
 */
const lastRound = toolLimits.rounds + 2

/** The call that rewrites the question. Each call of an answer has its own usage record, named after the request. */
export const queryCallId = (requestId: RequestId) => `${requestId}_query` as RequestId

/** The call of one round, from 0. The first one has the id of the request. */
export const roundCallId = (requestId: RequestId, round: number) =>
  (round === 0 ? requestId : `${requestId}_${round}`) as RequestId

/** The ids that the calls of an answer may have. */
export const callIdsOf = (requestId: RequestId): RequestId[] => [
  queryCallId(requestId),
  ...Array.from({ length: lastRound + 1 }, (_none, round) => roundCallId(requestId, round)),
]

/** What the tools of one answer have used. */
export type ToolBudget = ReturnType<typeof createToolBudget>

/** `receipts` grows with each call of the model. `maximumCostUsd`: of the Space, for one answer; null: none. */
export function createToolBudget(
  receipts: readonly Pick<Receipt, 'billedPicoUsd'>[],
  maximumCostUsd: number | null,
  limits = toolLimits,
) {
  const startMs = performance.now()
  const maximumPicoUsd = maximumCostUsd === null ? null : BigInt(Math.round(maximumCostUsd * 1e12))
  let bytes = 0
  let ownUses = 0
  const remainingMs = () => limits.answerMs - (performance.now() - startMs)
  const isUsedUp = () => bytes >= limits.resultBytes || remainingMs() <= 0
  return {
    isUsedUp,
    /** Takes one use of a tool of the Space's own. False: there is none left. */
    takeOwnUse: (): boolean => ++ownUses <= limits.ownUses,
    /** A further round of calls is allowed. */
    mayCall: (round: number): boolean =>
      round < limits.rounds &&
      !isUsedUp() &&
      (maximumPicoUsd === null ||
        receipts.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n) < maximumPicoUsd),
    noteResult: (content: string): void => void (bytes += Buffer.byteLength(content)),
    /** Aborts when a call that begins now must end. */
    deadlineOfCall: (): AbortSignal =>
      AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(limits.callMs, remainingMs())))),
  }
}

/** Most calls of one turn that are read; later ones are dropped. */
const maximumCalls = 16
/** Names and ids as providers accept them, UTF-16 units. Gemini's ids carry a signature of some thousand characters. */
const maximumNameLength = 64
const maximumIdLength = 32_000

export type ModelTurn = ReturnType<typeof createModelTurn>

/** Collects the events of one completion: its text without reasoning, and the tool calls, which arrive in pieces. */
export function createModelTurn() {
  const calls = new Map<number, ToolCall>()
  const reasoning = createReasoningRemoval()
  let text = ''
  let replay: ReasoningReplay | undefined

  /** In order of their index. Missing and repeated ids are replaced. */
  function toolCalls(): ToolCall[] {
    const ids = new Set<string>()
    return [...calls.entries()]
      .toSorted(([left], [right]) => left - right)
      .map(([index, call]) => {
        const id = call.id === '' || ids.has(call.id) ? `call_${index}` : call.id
        ids.add(id)
        return { ...call, id }
      })
  }

  return {
    toolCalls,
    callsTools: () => calls.size > 0,
    hasText: () => text !== '',
    text: () => text,
    /** Returns the text of these events. */
    take(events: readonly CompletionEvent[]): string {
      let added = ''
      for (const event of events) {
        if (event.type === 'text') added += reasoning.push(event.text)
        else if (event.type === 'refusal') added += event.text
        else if (event.type === 'tool_call') takeCall(calls, event)
        else if (event.type === 'replay') replay = event.replay
      }
      text += added
      return added
    },
    /** The rest of its text, after the last events. */
    end(): string {
      const rest = reasoning.end()
      text += rest
      return rest
    },
    /** The turn as it is sent back to the model, and the texts in it that take room in the context window. */
    toMessage(): { message: ProviderMessage; countedText: string } {
      const all = toolCalls()
      return {
        message: { role: 'assistant', content: text, toolCalls: all.map(toSentCall), ...(replay && { replay }) },
        countedText: JSON.stringify(replay?.blocks ?? '') + text + all.map((call) => call.argumentsJson).join(' '),
      }
    },
  }
}

function takeCall(calls: Map<number, ToolCall>, event: Extract<CompletionEvent, { type: 'tool_call' }>) {
  const call = calls.get(event.index) ?? { id: '', name: '', argumentsJson: '' }
  if (!calls.has(event.index)) {
    if (calls.size >= maximumCalls) return
    calls.set(event.index, call)
  }
  if (call.id === '') call.id = (event.id ?? '').slice(0, maximumIdLength)
  call.name = (call.name + (event.name ?? '')).slice(0, maximumNameLength)
  // One unit above the limit shows that the arguments are too long.
  call.argumentsJson = (call.argumentsJson + event.argumentsDelta).slice(0, maximumArgumentsLength + 1)
}

/**
 * Longest text of a turn, in UTF-16 units, that waits until it is known whether the turn calls tools: what models write before a call is
 * one or two sentences about what they will do. Longer text is an answer, and a reader of a stream should not wait for its end.
 */
export const heldOfStream = 400

/** Holds the text of a turn back until it is too long to be the beginning of a tool call, or the turn has ended. */
export function createTurnHold(mostHeld: number) {
  let held = ''
  let isReleased = mostHeld === 0
  let isDropped = false
  return {
    /** Returns the text that may be passed on. After a tool call there is none. */
    push(text: string, { callsTools }: { callsTools: boolean }): string {
      isDropped ||= callsTools
      if (isDropped) return ''
      if (isReleased) return text
      held += text
      if (held.length <= mostHeld) return ''
      isReleased = true
      return held
    },
    /** What is still held, at the end of a turn. */
    end: (): string => (isReleased || isDropped ? '' : held),
  }
}

/** Tags in which models behind hosts without a separate field write what they think before they answer. */
const opening = /^<(think|thinking|thought|reasoning)>/i
/** What may still become one of them. */
const mayOpen = /^(?:<[a-z]{0,9})?$/i
/** Units of the end of a block at most, where a piece of the stream cuts it. */
const longestCut = '</reasoning>'.length - 1

/**
 * Removes the blocks of reasoning at the beginning of a model's turn, however the stream cuts them; one that never ends is removed to the end.
 * Later in the text the same words are left alone: an answer may speak about them.
 */
export function createReasoningRemoval() {
  /** White space before what is held; that after a block is dropped. */
  let blank = ''
  /** Text that is not decided yet, from its first visible character on; inside a block, its last characters. */
  let held = ''
  let closing: RegExp | null = null
  let hasRemoved = false
  let hasBegun = false

  function take(): string {
    const text = blank + held
    blank = ''
    held = ''
    return text
  }

  function decide(): string {
    for (;;) {
      if (closing !== null) {
        const end = closing.exec(held)
        if (!end) {
          held = held.slice(-longestCut)
          return ''
        }
        held = held.slice(end.index + end[0].length)
        closing = null
        blank = ''
        hasRemoved = true
      }
      const visible = held.trimStart()
      if (!hasRemoved) blank += held.slice(0, held.length - visible.length)
      held = visible
      const found = opening.exec(held)
      if (!found) break
      closing = new RegExp(`</${found[1]!}>`, 'i')
      held = held.slice(found[0].length)
    }
    if (mayOpen.test(held)) return ''
    hasBegun = true
    return take()
  }

  return {
    push(text: string): string {
      if (hasBegun || text === '') return text
      held += text
      return decide()
    },
    /** The rest, at the end of the turn. */
    end(): string {
      return closing === null ? take() : ''
    },
  }
}
