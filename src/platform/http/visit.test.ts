import { expect, it } from 'vitest'
import { AppError, type LogFields, silentLog } from '../kernel/index.ts'
import { logFailure, logRequest } from './visit.ts'

const overloaded = (options: { internal?: string; cause?: unknown }) =>
  new AppError('overloaded', 'The service cannot account for new requests.', options)

it.each([
  [
    'its internal text',
    overloaded({ internal: 'the blob folder is full (ENOSPC)' }),
    'the blob folder is full (ENOSPC)',
  ],
  ['its cause', overloaded({ cause: new Error('ENOSPC: no space left on device') }), 'ENOSPC: no space left on device'],
  [
    'the cause of its cause',
    overloaded({ cause: overloaded({ internal: 'the process lacks memory' }) }),
    'the process lacks memory',
  ],
  ['its own text', overloaded({}), 'The service cannot account for new requests.'],
])('the lines of an overloaded request name what is overloaded: %s', (_from, error, reason) => {
  const lines: LogFields[] = []
  const write = (fields: LogFields) => void lines.push(fields)
  const log = { ...silentLog, info: write, error: write }
  const request = { requestId: 'r', method: 'POST', route: '/x', url: '/x', durationMs: 1, organisationId: 'o' }
  logRequest(log, { ...request, status: 503, error })
  logFailure(log, 'r', error)
  expect(lines).toMatchObject([
    { code: 'overloaded', reason },
    { code: 'overloaded', internal: reason },
  ])
})

it('the line of a request never has the message of an error that may quote the request', () => {
  const lines: LogFields[] = []
  const log = { ...silentLog, info: (fields: LogFields) => void lines.push(fields) }
  const error = new AppError('invalid_request', 'messages.0: secret prompt', { cause: new Error('secret prompt') })
  const request = { requestId: 'r', method: 'POST', route: '/x', url: '/x', durationMs: 1, organisationId: 'o' }
  logRequest(log, { ...request, status: 400, error })
  logFailure(log, 'r', error)
  expect(JSON.stringify(lines)).not.toContain('secret prompt')
  expect(lines).toHaveLength(1)
})

it.each([
  ['messages.0.content.12.image_url', 'messages.0.content.12.image_url'],
  ['content-type', 'content-type'],
  ['acceptUnverifiedEmail', 'acceptUnverifiedEmail'],
  ['metadata.my secret', 'metadata.*'],
  ['eW91IHNob3VsZCBub3QgcmVhZCB0aGlzIHRva2VuIQ', '*'],
  ['tools.0.function.parameters.properties.patient: Kim', 'tools.0.function.parameters.properties.*'],
  [`a${'.a'.repeat(100_000)}`, 'a.a.a.a.a.a.a.a.a.a.a.a'],
  ['', '*'],
])('the lines of a failed request have no field name that is a text of the client: %s', (param, shown) => {
  const lines: LogFields[] = []
  const write = (fields: LogFields) => void lines.push(fields)
  const log = { ...silentLog, info: write, warn: write }
  const error = new AppError('invalid_request', 'quoted', { param, internal: 'known' })
  logRequest(log, {
    requestId: 'r',
    method: 'POST',
    route: '/x',
    status: 400,
    durationMs: 1,
    organisationId: 'o',
    error,
  })
  logFailure(log, 'r', error)
  expect(lines.map((line) => line['param'])).toEqual([shown, shown])
})
