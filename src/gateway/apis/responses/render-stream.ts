import type { ErrorBody } from '../../../contract/errors.ts'
import type { CompletionEvent } from '../../gateway/index.ts'
import { createEventWriter, createStreamOutput } from './stream-output.ts'
import { incompleteReasonOf, renderResponse, type ResponseIdentity, type ResponseState } from './response-object.ts'

/** The events of a streamed response. */
export function createResponseStream(
  { settings, customTools }: { settings: string; customTools: readonly string[] },
  identity: ResponseIdentity,
  nowSeconds: () => number,
) {
  const writer = createEventWriter()
  const output = createStreamOutput(writer, identity.id, customTools)
  const respond = (type: string, state: Omit<ResponseState, 'output'>) => {
    const response = renderResponse(identity, settings, { ...state, output: output.items() })
    writer.event(type, `"response":${response}`)
  }
  const finish = ({ finishReason, usage }: CompletionEvent & { type: 'finish' }) => {
    const incompleteReason = incompleteReasonOf(finishReason)
    output.close(incompleteReason !== undefined)
    if (incompleteReason) respond('response.incomplete', { status: 'incomplete', incompleteReason, usage })
    else respond('response.completed', { status: 'completed', completedSeconds: nowSeconds(), usage })
  }

  return {
    start(): string {
      respond('response.created', { status: 'in_progress' })
      respond('response.in_progress', { status: 'in_progress' })
      return writer.take()
    },
    event(event: CompletionEvent): string {
      if (event.type !== 'finish') {
        output.write(event)
        return writer.take()
      }
      finish(event)
      return writer.take() + doneLine
    },
    failed(error: ErrorBody['error']): string {
      writer.event('error', renderErrorEvent(error))
      respond('response.failed', { status: 'failed', error: renderResponseError(error) })
      return writer.take() + doneLine
    },
  }
}

/** Open Responses requires it; OpenAI's SDKs end at it. */
const doneLine = 'data: [DONE]\n\n'

type DescribedError = ErrorBody['error']

/** The `error` of a failed response. Its codes are a closed list of the API. */
function renderResponseError({ type, message }: DescribedError): { code: string; message: string } {
  return { code: codes[type] ?? 'server_error', message }
}

const codes: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit_exceeded',
  invalid_request_error: 'invalid_prompt',
}

/**
 * Members of the `error` event, as JSON without braces. OpenAI describes them at the top level and Open Responses inside `error`, so they
 * are in both places; SDKs throw an error for the latter.
 */
function renderErrorEvent(error: DescribedError): string {
  const { code, message, param } = error
  return JSON.stringify({ code, message, param, error }).slice(1, -1)
}
