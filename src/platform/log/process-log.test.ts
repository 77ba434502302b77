import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { renderLogLine } from './process-log.ts'

/** The log of a real process, on a pipe and on a pseudo-terminal (`script` of util-linux). */

/** More than a pipe holds (64 KiB), so that some still wait when the process ends. */
const lines = 2000
const formats = ['json', 'text'] as const
const logAndExit = `() => { log.error({}, 'line ${lines}'); process.exit(1) }`
const ends = {
  'process.exit': 'process.exit(1)',
  'an uncaught exception': `throw new Error('planned fault')`,
  'an uncaught exception that is logged first': `process.on('uncaughtException', ${logAndExit}); throw new Error('planned fault')`,
}

function programOf(format: string, body: string): string {
  const module = path.join(import.meta.dirname, 'process-log.ts')
  return `import { createLog, logConsole } from ${JSON.stringify(module)}
    const log = createLog({ level: 'info', format: ${JSON.stringify(format)} })
    ${body}`
}

const nodeArguments = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e']

function run(program: string): string {
  return spawnSync(process.execPath, [...nodeArguments, program], { encoding: 'utf8' }).stderr
}

describe.each(formats)('the log as %s', (format) => {
  it.each(Object.entries(ends))('has every line, in order and once, when the process ends by %s', (_name, end) => {
    const output = run(programOf(format, `for (let i = 0; i < ${lines}; i++) log.info({}, 'line ' + i)\n${end}`))
    const found = [...output.matchAll(/\bline (\d+)\b/g)].map(([, number]) => Number(number))
    const expected = end.includes(logAndExit) ? lines + 1 : lines
    expect(found).toEqual(Array.from({ length: expected }, (_, index) => index))
  })

  it('removes secrets from fields', () => {
    const output = run(
      programOf(
        format,
        `log.warn({ apiKey: 'sk-1', provider: { apiKey: 'sk-2', authorization: 'sk-3' }, headers: { a: 'sk-4' }, kept: 5 }, 'fields')`,
      ),
    )
    expect(output).toMatch(/\bkept"?[=:]5/)
    expect(output).not.toContain('sk-')
  })
})

it.runIf(existsSync('/dev/full'))('loses lines and nothing else when the disk of standard error is full', () => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const program = programOf(
    'json',
    `for (let i = 0; i < ${lines}; i++) log.info({}, 'line ' + i)
    setTimeout(() => { for (let i = 0; i < ${lines}; i++) log.info({}, 'line ' + i); process.exit(7) }, 100)`,
  )
  const { status } = spawnSync(process.execPath, [...nodeArguments, program], {
    stdio: ['ignore', 'ignore', full],
    timeout: 30_000,
  })
  expect(status).toBe(7)
})

it('has what libraries write to the console as its own lines', () => {
  const program = `logConsole(log); console.error('one\\ntwo', new Error('planned fault')); console.warn({ a: 1 })`
  const written = run(programOf('auto', program)).trimEnd().split('\n')
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', text: expect.stringMatching(/^one\ntwo Error: planned fault/) },
    { level: 'warn', text: '{ a: 1 }' },
  ])
})

it('is JSON when standard error is not a terminal', () => {
  expect(JSON.parse(run(programOf('auto', `log.info({ a: 1 }, 'hello')`)))).toMatchObject({
    level: 'info',
    msg: 'hello',
  })
})

describe.runIf(spawnSync('script', ['--version']).status === 0)('on a terminal', () => {
  it('is text with colors', async () => {
    const [time, rest] = (await runOnTerminal('auto', { TERM: 'xterm-256color' })).split('\u001b[0m ', 2)
    expect(time).toContain('\u001b[2m')
    expect(rest).toBe('\u001b[32mINFO ')
  })

  it.each<Record<string, string>>([{ NO_COLOR: '1' }, { TERM: 'dumb' }])(
    'has no colors with %j',
    async (environment) => {
      expect(await runOnTerminal('auto', { TERM: 'xterm-256color', ...environment })).toMatch(
        /^[\d:.]{12} INFO {2}hello a=1\r\n$/,
      )
    },
  )

  it('is JSON when the configuration sets it', async () => {
    expect(JSON.parse(await runOnTerminal('json', {}))).toMatchObject({ a: 1 })
  })

  it('has the last line before the process exits', async () => {
    const body = `for (let i = 0; i < ${lines}; i++) log.info({}, 'line ' + i)\nprocess.exit(1)`
    expect(await runOnTerminal('auto', {}, body)).toContain(`line ${lines - 1}\r\n`)
  })
})

/** What a terminal of the process shows. */
async function runOnTerminal(
  format: string,
  environment: Record<string, string>,
  body = `log.info({ a: 1 }, 'hello')`,
): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-terminal-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'typescript')
  const child = spawn(
    'script',
    ['--quiet', '--return', '--command', `"$PROGRAM_NODE" ${nodeArguments.join(' ')} "$PROGRAM"`, file],
    {
      env: {
        PATH: process.env.PATH,
        SHELL: '/bin/sh',
        PROGRAM_NODE: process.execPath,
        PROGRAM: programOf(format, body),
        ...environment,
      },
      stdio: 'ignore',
    },
  )
  await once(child, 'exit')
  // The first and the last line are headers of `script`.
  return readFileSync(file, 'utf8')
    .replace(/^Script started.*\n/, '')
    .replace(/\nScript done[\s\S]*$/, '')
}

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
