import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'
import type { Caller, Person } from './route.ts'

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
export function authenticateOrganisation(request: FastifyRequest, { organisations }: Authenticators): Caller {
  const key = readKey(request)
  const organisation = key === undefined ? undefined : organisations.authenticate(key)
  if (!organisation) {
    throw new AppError(
      'invalid_api_key',
      'The API key is missing or not valid. Send it as `Authorization: Bearer <key>` or in `x-api-key`; a team administrator finds it under Developer Tools.',
    )
  }
  return organisation
}

/** True for a valid operator token, false without a credential in the headers. Throws for any other credential. */
export function authenticateOperator(request: FastifyRequest, { operatorTokens }: Authenticators): boolean {
  const { authorization, 'x-api-key': named } = request.raw.headersDistinct
  if (authorization === undefined && named === undefined) return false
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
function readKey({ raw }: FastifyRequest): string | undefined {
  const { 'x-api-key': named = [], authorization = [] } = raw.headersDistinct
  const keys = new Set<string>()
  for (const value of named) for (const key of splitEqual(value)) keys.add(key)
  for (const value of authorization) {
    if (/^(?:Bearer)?\s*$/i.test(value)) continue
    keys.add(/^Bearer +(\S+) *$/i.exec(value)?.[1] ?? '')
  }
  const [key, ...others] = keys
  return others.length === 0 && key !== '' ? key : undefined
}

/** `key, key`: proxies join a repeated header in this form. */
function splitEqual(value: string): string[] {
  const parts = value.split(',').map((part) => part.trim())
  return parts.every((part) => part === parts[0]) ? parts.slice(0, 1) : [value.trim()]
}
