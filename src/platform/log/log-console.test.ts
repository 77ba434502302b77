import { expect, it } from 'vitest'
import type { Log } from '../kernel/index.ts'
import { logConsole } from './process-log.ts'

it('makes one bounded line of the log from what a library writes to the console', () => {
  const lines: [string, object, string][] = []
  const log = Object.fromEntries(
    ['error', 'warn'].map((level) => [
      level,
      (fields: object, message: string) => lines.push([level, fields, message]),
    ]),
  ) as unknown as Log
  const target = { error() {}, warn() {}, trace() {} } as unknown as Console
  logConsole(log, target)
  target.error('# SERVER_ERROR: ', new Error('planned\nfault'))
  target.warn('%s of %d', 'one', 2)
  target.trace('x'.repeat(100_000))
  const message = 'a library has written to the console'
  expect(lines).toEqual([
    ['error', { text: expect.stringMatching(/^# SERVER_ERROR: {2}Error: planned\nfault\n/) }, message],
    ['warn', { text: 'one of 2' }, message],
    ['warn', { text: 'x'.repeat(2000) }, message],
  ])
})
