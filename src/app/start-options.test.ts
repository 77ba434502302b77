import { describe, expect, it } from 'vitest'
import { readStartOptions } from './start-options.ts'

describe('options of the start', () => {
  it('have a value after a space or an equals sign', () => {
    const expected = { 'server.role': 'gateway', 'server.processes': '4' }
    expect(readStartOptions(['--role', 'gateway', '--processes', '4']).settings).toEqual(expected)
    expect(readStartOptions(['--stop-with=12', '--role=gateway', '--processes=4'])).toEqual({
      settings: expected,
      processNumber: undefined,
      stopWith: 12,
    })
  })

  it('may be absent', () => {
    expect(readStartOptions([])).toEqual({ settings: {}, processNumber: undefined, stopWith: undefined })
  })

  it.each([
    [['--rolle', 'api'], '--rolle is not an option.'],
    [['api'], 'api is not an option.'],
    [['--role'], '--role needs a value.'],
    [['--role='], '--role needs a value.'],
    [['--__proto__=1'], '--__proto__=1 is not an option.'],
    [['--constructor=1'], '--constructor=1 is not an option.'],
  ])('%j is an error that names the argument', (argv, message) => {
    expect(() => readStartOptions(argv)).toThrow(message)
  })
})
