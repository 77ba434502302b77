import { describe, expect, it } from 'vitest'
import { DatabaseError, DatabaseStartError, findLostConnection, shortMessage } from './database-error.ts'

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

describe('the text of an error', () => {
  it.each([
    [{ name: 'ErrnoError', errno: 51 }, 'a file could not be read or written (ENOSPC)'],
    [{ name: 'ErrnoError', errno: 69 }, 'a file could not be read or written (EROFS)'],
    [{ name: 'ErrnoError', errno: 99 }, 'a file could not be read or written (errno 99)'],
    [{ status: 1 }, '{ status: 1 }'],
    [new Error('first\nsecond'), 'first'],
    ['text', 'text'],
    [undefined, 'undefined'],
  ])('of %o is %s', (error, text) => {
    expect(shortMessage(error)).toBe(text)
  })
})

describe('a statement', () => {
  it.each([
    ['53100', 'could not extend file "base/5/1": No space left on device', true],
    ['42501', 'could not open file "base/5/1": Read-only file system', true],
    ['58P01', 'could not open file "pg_wal/0001": No such file or directory', true],
    ['XX000', 'could not fsync file "base/5/1": Stale file handle', true],
    ['42501', 'permission denied for table documents', false],
    ['42P01', 'relation "x" does not exist', false],
  ])('that fails with %s %s may succeed later: %s', (code, message, isUnavailable) => {
    expect(new DatabaseError(code, message).isUnavailable).toBe(isUnavailable)
  })
})
