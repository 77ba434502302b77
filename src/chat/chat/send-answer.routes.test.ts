import { describe, expect, it } from 'vitest'
import { DatabaseError } from '../../platform/database/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import { toReaderError } from './send-answer.routes.ts'

// As PgBouncer reports a server that is away.
const away = new DatabaseError('08P01', 'server login has been failing, try again later (server_login_retry)')
const visitor = { isPreview: false, isAdministrator: false, passageReferences: false, finishReason: false }

describe('the error of a failed answer', () => {
  it('is 503 with retry-after and a text for visitors while the database is away', () => {
    expect(toReaderError(new Error('the search failed', { cause: away }), visitor)).toMatchObject({
      code: 'overloaded',
      message: 'This assistant is busy. Try again in a moment.',
      retryAfterSeconds: 1,
    })
  })

  it('exposes nothing of an unknown error, and has its text and its stack for the log', () => {
    const thrown = new Error('no such column')
    const error = toReaderError(thrown, visitor)
    expect(error).toMatchObject({
      code: 'internal_error',
      message: 'This assistant is unavailable at the moment.',
      internal: 'no such column',
      cause: thrown,
    })
  })

  it('keeps the code and the wait of a known error', () => {
    const thrown = new AppError('insufficient_quota', 'The budget is spent.', { retryAfterSeconds: 7 })
    const error = toReaderError(thrown, visitor)
    expect(error).toMatchObject({ code: 'insufficient_quota', internal: 'The budget is spent.', retryAfterSeconds: 7 })
    expect(error.message).not.toContain('budget')
  })
})
