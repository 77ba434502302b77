import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DatabaseError } from '../database/index.ts'
import { AppError, type ErrorCode, withDeadline } from '../kernel/index.ts'
import { errorClasses, errorHeaders, renderErrorBody, toAppError } from './error-renderer.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/use/errors.md'), 'utf8')
const documented = [
  ...page.matchAll(/^- `([a-z_]+)` \((\d{3}), `([a-z_]+)`\): ([\s\S]+?)\s\*\*Do:\*\*\s([\s\S]+?)(?=\n- |\n\n)/gm),
]

describe('docs/use/errors.md', () => {
  it('lists every error code once, with status and type', () => {
    const inCode = Object.entries(errorClasses).map(([code, { status, type }]) => `${code} ${status} ${type}`)
    expect(documented.map(([, code, status, type]) => `${code} ${status} ${type}`).sort()).toEqual(inCode.sort())
  })

  it('describes the cause and the remedy of each code', () => {
    for (const [, code, , , when, remedy] of documented) {
      expect(when!.trim().length, code).toBeGreaterThan(10)
      expect(remedy!.trim(), code).not.toBe('')
    }
  })
})

describe('the error renderer', () => {
  it('returns 503 with retry-after while the database is unavailable, and 500 for permanent errors', () => {
    const lost = toAppError(
      new Error('load failed', { cause: new DatabaseError('57P01', 'terminated by administrator') }),
    )
    expect(lost).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
    expect(lost.message).not.toContain('administrator')
    for (const code of ['08006', '53300', '55P03', '57P03', '57014', '53100']) {
      expect(toAppError(new DatabaseError(code, 'x')).code, code).toBe('overloaded')
    }
    expect(toAppError(new DatabaseError('23505', 'duplicate key')).code).toBe('internal_error')
  })

  it('returns 503 with retry-after where a statement is not answered in time', async () => {
    const late = await withDeadline(0, () => new Promise<never>(() => {})).catch((error: unknown) => error)
    for (const error of [late, new Error('no lease could be opened', { cause: late })]) {
      expect(toAppError(error)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
    }
  })

  it('has the code in the body, except for invalid_request, whose type is sufficient', () => {
    for (const code of Object.keys(errorClasses) as ErrorCode[]) {
      const { error } = renderErrorBody(new AppError(code, 'Words.', { param: 'field' }))
      expect(error.code).toBe(code === 'invalid_request' ? null : code)
      expect(error).toMatchObject({ message: 'Words.', param: 'field' })
    }
  })

  it('has retry-after in whole seconds with every 503, and with other errors only if they set it', () => {
    for (const code of Object.keys(errorClasses) as ErrorCode[]) {
      const expected = errorClasses[code].status === 503 ? { 'retry-after': '1' } : {}
      expect(errorHeaders(new AppError(code, 'Words.'))).toEqual(expected)
      expect(errorHeaders(new AppError(code, 'Words.', { retryAfterSeconds: 2.1 }))).toEqual({ 'retry-after': '3' })
    }
  })

  it('exposes nothing of an unknown error', () => {
    const error = toAppError(new Error('password=hunter2 at /srv/portico'))
    expect(error.code).toBe('internal_error')
    expect(JSON.stringify(renderErrorBody(error))).not.toMatch(/hunter2|srv/)
  })
})
