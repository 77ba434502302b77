import { describe, expect, it } from 'vitest'
import { renderLogLine } from './log-text.ts'

const render = (fields: Record<string, unknown>, colors = false) =>
  renderLogLine(
    `${JSON.stringify({ level: 'info', time: '2026-11-21T12:30:05.007Z', pid: 7, msg: 'a message', ...fields })}\n`,
    colors,
  )

describe('a log line as text', () => {
  it('has time, level, message and fields on one line', () => {
    const line = render({ level: 'warn', documentId: '01a1-ff', durationMs: 248, reason: 'no such "file"', list: [1] })
    expect(line).toMatch(
      /^\d\d:\d\d:05\.007 WARN {2}a message documentId=01a1-ff durationMs=248 reason="no such \\"file\\"" list=\[1\]\n$/,
    )
  })

  it('prints a stack trace on indented lines below', () => {
    const line = render({ level: 'error', error: 'x', stack: 'Error: x\n    at one (a.ts:1:1)\n    at two (b.ts:2:2)' })
    expect(line.split('\n').slice(1)).toEqual(['    Error: x', '    at one (a.ts:1:1)', '    at two (b.ts:2:2)', ''])
  })

  const attacks = {
    'an escape sequence': '\u001b[2J\u001b]0;title\u0007',
    'a C1 control character': '\u009b31m',
    'a forged line': 'x\r\n12:00:00.000 INFO  forged',
    'a delete character': 'a\u007f',
    'a bidirectional override': '\u202etxt.exe',
    'a line separator': 'a\u2028b',
    'an unpaired surrogate': 'a\ud800',
  }
  // What a terminal may receive: printable characters, and the line break at the end.
  const harmless = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*\n$/u

  it.each(Object.entries(attacks))('shows %s as an escape, wherever it is', (_name, text) => {
    for (const fields of [{ msg: text }, { field: text }, { nested: { list: [text] } }, { [text]: 1 }, { level: text }])
      expect(render(fields)).toMatch(harmless)
    const [, ...trace] = render({ stack: `Error: ${text}` }).split(/(?<=\n)/)
    for (const line of trace) expect(line).toMatch(harmless)
    expect(renderLogLine(text, false)).toMatch(harmless)
  })

  it('has colors only when they are wanted', () => {
    expect(render({ field: 1 })).not.toContain('\u001b')
    expect(render({ field: 1 }, true)).toContain('\u001b[32mINFO \u001b[0m a message\u001b[2m field=1\u001b[0m\n')
  })
})
