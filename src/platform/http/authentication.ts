import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'
import type { Caller, Person } from './caller.ts'

interface HasRawHeaders {
  raw: { rawHeaders: string[] }
}

/** Checks credentials. The result is undefined or false if a credential is not valid. `organisations` and `operatorTokens` read memory only. */
export interface Authenticators {
  organisations: { authenticate(key: string): Caller | undefined; get(id: string): Caller | undefined }
  operatorTokens: { authenticate(token: string): boolean }
  /** The person of a session cookie. */
  people: { authenticate(headers: Headers): Promise<Person | undefined> }
}

/**
 * The organisation of the request's API key. Every endpoint accepts `x-api-key` and `Authorization: Bearer`. A key that is absent,
 * malformed, revoked or unknown, and two different keys, get the same 401.
 */
export function authenticateOrganisation(request: HasRawHeaders, authenticators: Authenticators): Caller {
  const organisation = findOrganisation(request, authenticators)
  if (!organisation) {
    throw new AppError(
      'invalid_api_key',
      'The API key is missing or not valid. Send it as `Authorization: Bearer <key>` or in `x-api-key`; a team administrator finds it under Developer Tools.',
    )
  }
  return organisation
}

/** The same; undefined where that throws. */
export function findOrganisation(request: HasRawHeaders, { organisations }: Authenticators): Caller | undefined {
  const key = readKey(request)
  return key === undefined ? undefined : organisations.authenticate(key)
}

/** True for a valid operator token, false without a credential in the headers. Throws for any other credential. */
export function authenticateOperator(request: FastifyRequest, { operatorTokens }: Authenticators): boolean {
  if (!hasCredential(request)) return false
  const token = readKey(request)
  if (token !== undefined && operatorTokens.authenticate(token)) return true
  throw new AppError(
    'invalid_operator_token',
    'The operator token is not valid. Send it as `Authorization: Bearer <token>`; it was printed at the first start.',
  )
}

/**
 * The only credential of a request. Undefined if there is none, or if credentials differ: two headers, a repeated header, values
 * joined by a proxy with commas, or a scheme other than Bearer next to a key.
 */
function readKey({ raw: { rawHeaders } }: HasRawHeaders): string | undefined {
  let found: string | undefined
  const accept = (key: string) => {
    if (found !== undefined && found !== key) return false
    found = key
    return true
  }
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    const value = rawHeaders[index + 1]!
    if (isNamed(name, 'x-api-key')) {
      if (!splitEqual(value).every(accept)) return undefined
    } else if (isNamed(name, 'authorization') && !/^(?:Bearer)?\s*$/i.test(value)) {
      if (!accept(/^Bearer +(\S+) *$/i.exec(value)?.[1] ?? '')) return undefined
    }
  }
  return found === '' ? undefined : found
}

function hasCredential({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}

/** Looks at the raw headers: `headersDistinct` of Node.js builds a list for each header of the request. */
const isNamed = (name: string, wanted: string) => name.length === wanted.length && name.toLowerCase() === wanted

/** `key, key`: proxies join a repeated header in this form. */
function splitEqual(value: string): string[] {
  const parts = value.split(',').map((part) => part.trim())
  return parts.every((part) => part === parts[0]) ? parts.slice(0, 1) : [value.trim()]
}
