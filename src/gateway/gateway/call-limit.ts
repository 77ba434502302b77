import { AppError } from '../../platform/kernel/index.ts'
import { mustCallOnce, type ProviderEvent, type ProviderRequest } from '../providers/index.ts'

/** Keeps a stream to the one tool call that its request allows. */
export interface CallLimit {
  /** The events without those of further calls. */
  take<Event extends Pick<ProviderEvent, 'type'>>(events: Event[]): Event[]
  isExceeded(): boolean
}

/** Null if the request allows several calls. */
export function createCallLimit(request: ProviderRequest): CallLimit | null {
  if (!mustCallOnce(request)) return null
  const first = new Map<number, number>()
  let isExceeded = false
  const isAllowed = (event: Pick<ProviderEvent, 'type'>) => {
    if (event.type !== 'tool_call') return true
    const { index, choice = 0 } = event as ProviderEvent & { type: 'tool_call' }
    const known = first.get(choice)
    if (known === undefined) first.set(choice, index)
    if (known === undefined || known === index) return true
    isExceeded = true
    return false
  }
  return { take: (events) => events.filter(isAllowed), isExceeded: () => isExceeded }
}

/** Whether a whole answer has more calls than its request allows. */
export function exceedsCalls(request: ProviderRequest, answers: readonly { toolCalls: readonly unknown[] }[]): boolean {
  return mustCallOnce(request) && answers.some(({ toolCalls }) => toolCalls.length > 1)
}

/** The answer was billed. No call is left out silently, and the client gets none that it has excluded. */
export function tooManyCalls(): AppError {
  return new AppError(
    'upstream_error',
    'The model called its tool several times, although the request allows one call. Send the request again, or use a model that has a limit of one call.',
  )
}
