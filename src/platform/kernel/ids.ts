import { randomFillSync, randomUUID } from 'node:crypto'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type OrganisationId = Branded<'OrganisationId'>
export type SpaceId = Branded<'SpaceId'>
export type EndpointId = Branded<'EndpointId'>
export type DocumentId = Branded<'DocumentId'>
export type RequestId = Branded<'RequestId'>
/** One run of one process. A restart creates a new id, so that the state of a dead process is identified. */
export type InstanceId = Branded<'InstanceId'>

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** True for any RFC 9562 UUID in its text form, whatever its version. */
export function isUuid(value: string): boolean {
  return uuidPattern.test(value)
}

/** A time-ordered UUID (version 7): index-friendly, and newest-first order has a natural tie-break. */
export function createUuid(nowMs: number = Date.now()): string {
  const hex = uuidDigits(nowMs)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Random bytes are fetched in blocks: one call for each id takes longer than all the rest of it. */
const randomBlock = Buffer.alloc(8_000)
const randomBytesPerUuid = 10
let randomAt = randomBlock.length

/** The 32 digits: 12 of the time, then version, variant and 74 random bits. */
function uuidDigits(nowMs: number): string {
  if (randomAt === randomBlock.length) {
    randomFillSync(randomBlock)
    randomAt = 0
  }
  const start = randomAt
  randomAt += randomBytesPerUuid
  randomBlock[start] = 0x70 | (randomBlock[start]! & 0x0f)
  randomBlock[start + 2] = 0x80 | (randomBlock[start + 2]! & 0x3f)
  return nowMs.toString(16).padStart(12, '0') + randomBlock.toString('hex', start, randomAt)
}

export const createOrganisationId = (): OrganisationId => createUuid() as OrganisationId
export const createSpaceId = (): SpaceId => createUuid() as SpaceId
export const createDocumentId = (): DocumentId => createUuid() as DocumentId
/** Unguessable (version 4): clients put endpoint ids into their configuration. */
export const createEndpointId = (): EndpointId => randomUUID() as EndpointId
export const createInstanceId = (): InstanceId => randomUUID() as InstanceId
/** `req_` + a time-ordered UUID without dashes; the primary key of a usage record. */
export const createRequestId = (): RequestId => `req_${uuidDigits(Date.now())}` as RequestId
