import { describe, expect, it } from 'vitest'
import { DatabaseError, DatabaseStartError, findLostConnection } from './database-error.ts'

describe('findLostConnection', () => {
  const lost = new DatabaseError('57P01', 'terminating connection due to administrator command')

  it.each([
    ['the error itself', lost],
    ['its cause', new DatabaseStartError('the schema could not be created', { cause: lost })],
    ['the error that failed cleaning up hides', Object.assign(new Error('closing failed'), { suppressed: lost })],
  ])('finds %s', (_case, error) => {
    expect(findLostConnection(error)).toBe(lost)
  })

  it.each([
    ['a wrong password', Object.assign(new Error('password authentication failed'), { code: '28P01' })],
    ['a server that is never there', new DatabaseStartError('refused', { cause: { code: 'ECONNREFUSED' } })],
    ['a thrown text', 'text'],
  ])('is undefined for %s', (_case, error) => {
    expect(findLostConnection(error)).toBeUndefined()
  })
})
