import type { StoredTool, ToolCredential } from '../../contract/space-tools.ts'
import { isObject } from '../../platform/kernel/index.ts'
import { cleanText, readBounded } from './bounded-body.ts'
import { headersOf } from './credential.ts'
import { answerLimits, toAnswer, toProblem } from './tool-answer.ts'
import type { ToolAnswer } from './tool-server.ts'

/** Calls one operation of an OpenAPI file. */

type Request = NonNullable<StoredTool['request']>

export interface ActionCall {
  /** Of the service; the path follows it. */
  url: string
  request: Request
  credential: ToolCredential | null
  given: Record<string, unknown>
  fetch: typeof fetch
  signal: AbortSignal
}

/** Rejects where the connection fails. */
export async function callAction({ url, request, credential, given, fetch, signal }: ActionCall): Promise<ToolAnswer> {
  const made = makeRequest(new URL(url), request, given)
  if ('problem' in made) return made
  const response = await fetch(made.url, {
    method: request.method.toUpperCase(),
    headers: {
      accept: 'application/json, text/*;q=0.9',
      ...made.headers,
      ...(made.body !== undefined && { 'content-type': 'application/json' }),
      ...headersOf(credential),
    },
    // A redirect could lead to another host, which must not receive the credential.
    redirect: 'manual',
    signal,
    ...(made.body !== undefined && { body: made.body }),
  })
  const { status } = response
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    return { problem: `The service answered with a redirect (${status}), which is not followed.` }
  }
  if (!isText(response.headers.get('content-type'))) {
    await response.body?.cancel()
    return status < 300
      ? { problem: 'The service answered with content that is no text.' }
      : { problem: `The service answered with the status ${status}.` }
  }
  const { text, isCut } = await readBounded(response, answerLimits.bytes)
  if (status >= 400) return toProblem(`The service answered with the status ${status}.`, text, credential)
  return toAnswer(text, isCut, credential)
}

/** Without a content type a body is empty, or surely no file. */
const isText = (type: string | null) =>
  type === null || /^\s*(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|x-ndjson)\b)/i.test(type)

type Made = { url: string; headers: Record<string, string>; body?: string } | { problem: string }

function makeRequest(base: URL, request: Request, given: Record<string, unknown>): Made {
  const known = new Set(request.parameters.map(({ argument }) => argument))
  if (request.body !== 'none') known.add('body')
  const unknown = Object.keys(given).find((name) => !known.has(name))
  if (unknown !== undefined)
    return {
      problem: `There is no argument ${cleanText(unknown).slice(0, 60)}. The arguments are: ${[...known].join(', ')}.`,
    }
  let { path } = request
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  for (const { argument, name, in: place, required } of request.parameters) {
    const value = given[argument]
    if (value === undefined || value === null) {
      if (required) return { problem: `The argument ${argument} is required.` }
      continue
    }
    if (place === 'query') for (const one of Array.isArray(value) ? value : [value]) query.append(name, toText(one))
    else if (place === 'header') {
      const text = toText(value)
      if (!/^[\t\u0020-\u007e]*$/.test(text))
        return { problem: `The argument ${argument} must have ASCII characters only.` }
      headers[name.toLowerCase()] = text
    } else {
      const text = toText(value)
      // These would lead to another path.
      if (/^\.{0,2}$/.test(text)) return { problem: `The argument ${argument} must not be empty, . or ..` }
      path = path.replaceAll(`{${name}}`, () => encodeURIComponent(text.toWellFormed()))
    }
  }
  const prefix = base.pathname.replace(/\/+$/, '')
  const url = new URL(base.origin + prefix + path)
  if (url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`))
    return { problem: 'The arguments lead to another address.' }
  for (const [name, value] of query) url.searchParams.append(name, value)
  const { body } = given
  if (request.body === 'required' && body === undefined) return { problem: 'The argument body is required.' }
  const hasBody = request.body !== 'none' && body !== undefined
  return { url: url.href, headers, ...(hasBody && { body: JSON.stringify(body) }) }
}

const toText = (value: unknown): string =>
  isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
