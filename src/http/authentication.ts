import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'
import type { Organisation } from '../organisations/index.ts'

/** What the authentication hook asks: both answers come from memory. */
export interface Authenticators {
  organisations: { authenticate(key: string): Organisation | undefined }
  operatorTokens: { authenticate(token: string): boolean }
}

/**
 * The organisation whose API key the request carries. `x-api-key` and `Authorization: Bearer` are taken on every endpoint; a key
 * that is absent, malformed, revoked or unknown, and two that differ, get the same 401 (decisions.md, Keys).
 */
export function authenticateOrganisation(request: FastifyRequest, { organisations }: Authenticators): Organisation {
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

export function authenticateOperator(request: FastifyRequest, { operatorTokens }: Authenticators): void {
  const token = readKey(request)
  if (token === undefined || !operatorTokens.authenticate(token)) {
    throw new AppError(
      'invalid_operator_token',
      'The operator token is missing or not valid. Send it as `Authorization: Bearer <token>`; it was printed at the first start.',
    )
  }
}

/** Undefined when there is none, or when the two headers name different ones. */
function readKey({ headers }: FastifyRequest): string | undefined {
  const named = headers['x-api-key']
  const fromHeader = Array.isArray(named) ? undefined : named?.trim()
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (fromHeader !== undefined && bearer !== undefined && fromHeader !== bearer) return undefined
  return bearer ?? fromHeader
}
