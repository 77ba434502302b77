import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../cli/run.ts'
import { runFirstStart } from '../../src/app/first-start/first-start.ts'
import { fencedCommands, inlineCommands, repository } from '../harness/documented-commands.ts'
import { removeFolder, startPortico, type TestPortico } from '../harness/portico.ts'

/** Every documented command works: fenced ones run against a demo service, the others must exist with their options. */

/** Not run here: they install the project, run CI, measure for minutes, or run until they are stopped. scripts/minimal-system.sh and CI run the others. */
const installsOrTests =
  /^(npm ci( |$)|npm run (check|test:\w+|dev|bench)\b|(\w+=\S+ )*npm test -- |bash \.ci\/run( --all)?$)/

let folder: string
let portico: TestPortico
let printed = ''
const scripts = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')).scripts as Record<
  string,
  string
>

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-docs-'))
  for (const name of ['bin/portico', 'bin/run']) {
    mkdirSync(path.join(folder, 'bin'), { recursive: true })
    symlinkSync(path.join(repository, name), path.join(folder, name))
  }
  mkdirSync(path.join(folder, 'handbook'))
  writeFileSync(path.join(folder, 'handbook/hours.md'), '# Hours\n\nThe office is open from nine to five.\n')
  writeFileSync(path.join(folder, 'handbook.pdf'), onePagePdf('The office is open from nine to five.'))
  // Where jq is not installed, a stub reads its input and prints nothing.
  writeFileSync(
    path.join(folder, 'jq'),
    '#!/bin/sh\nPATH=${PATH#*:}\ncommand -v jq >/dev/null && exec jq "$@"\ncat >/dev/null\n',
  )
  chmodSync(path.join(folder, 'jq'), 0o755)
  portico = await startPortico({ environment: { PORTICO_DEMO: 'true' } })
  await runFirstStart(portico.service, {
    url: portico.url,
    print: async (text) => {
      printed += text
    },
  })
})
afterAll(async () => {
  await portico?.stop()
  await removeFolder(folder)
})

it.each(fencedCommands().map(({ page, lines }) => ({ page, lines, first: lines[0] })))(
  '$page: the block that begins with "$first" runs as printed',
  async ({ lines }) => {
    for (const line of lines.filter((one) => installsOrTests.test(one))) assertScriptsExist(line)
    const rest = lines.filter((one) => !installsOrTests.test(one))
    if (rest.length > 0) await runLines(rest)
  },
)

it('the lines that the first start prints run as printed', async () => {
  const lines = printed.split('\n').filter((line) => /^(export|curl|printf) /.test(line))
  expect(lines.length).toBeGreaterThanOrEqual(7)
  await runLines(lines)
})

it.each(inlineCommands())('$page: `$command` names what exists', async ({ command }) => {
  const words = command.split(/\s+/).map((word) => word.replaceAll(/[[\]]/g, ''))
  if (words[0] === 'npm' || words[0] === 'bash') assertScriptsExist(command)
  else if (words[0] === 'portico' || words[0] === 'bin/portico') await assertCliKnows(words.slice(1))
  else if (words[0] === 'bin/run' || words[0]!.startsWith('scripts/')) {
    const file = words.find((word) => word.includes('/') && word !== 'bin/run')!
    assertOptions(file, words)
  } else throw new Error(`\`${command}\` does not run everywhere: write bin/run, bin/portico or an npm script`)
})

/** Runs the lines in one shell that ends at the first failure. Placeholders are replaced by values. */
async function runLines(lines: string[]): Promise<void> {
  const demo = Object.fromEntries(
    [...printed.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name!, value!]),
  )
  let script = lines.join('\n')
  const placeholders: [RegExp, string][] = [
    [/pto_…/g, portico.operatorToken],
    [/ptc_…/g, demo['PORTICO_API_KEY']!],
    [/(?<![\w$])SPACE_ID\b/g, demo['PORTICO_SPACE_ID']!],
    [/(?<![\w$])ENDPOINT_ID\b/g, demo['PORTICO_ENDPOINT_ID']!],
  ]
  for (const [pattern, value] of placeholders) script = script.replaceAll(pattern, value)
  // curl ends with 0 for every status; here an error status is a failure.
  const prelude = `set -euo pipefail; curl() { command curl --fail-with-body --noproxy '*' "$@"; }\n`
  const done = promisify(execFile)('bash', ['-c', prelude + script], {
    cwd: folder,
    env: {
      ...demo,
      HOME: folder,
      PATH: `${folder}:${process.env.PATH}`,
      PORTICO_URL: portico.url,
      PORTICO_OPERATOR_TOKEN: portico.operatorToken,
    },
  })
  const { stdout } = await done.catch((error: Error & { stdout: string; stderr: string }) => {
    throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`)
  })
  expect(stdout).not.toContain('> portico@')
}

/** `npm run NAME` and `bash FILE` in a line exist; options after `--` are options of the script. */
function assertScriptsExist(line: string): void {
  for (const [, name] of line.matchAll(/npm run ([\w:-]+)/g))
    expect(scripts, `${line}: npm run ${name}`).toHaveProperty([name!])
  for (const [, name] of line.matchAll(/npm (start|test)\b/g)) expect(scripts).toHaveProperty([name!])
  for (const [, file] of line.matchAll(/(?:bash|npm test --) (\S+)/g))
    expect(existsSync(path.join(repository, file!)), line).toBe(true)
  const [, name, rest] = /npm run ([\w:-]+) \[?-- (.*)/.exec(line) ?? []
  if (name !== undefined)
    assertOptions(
      scripts[name]!.split(' ').find((word) => word.includes('/') && word !== 'bin/run')!,
      rest!.split(/\s+/),
    )
}

/** The script file exists and reads each option. */
function assertOptions(file: string, words: string[]): void {
  const source = readFileSync(path.join(repository, file), 'utf8')
  for (const word of words) {
    const [, option] = /^\[?--([a-z][\w-]*)/.exec(word) ?? []
    if (option !== undefined) expect(source, `${file} --${option}`).toMatch(new RegExp(`\\b${option}\\b`))
  }
}

/** The subcommand exists and its help lists each option. */
async function assertCliKnows(words: string[]): Promise<void> {
  const names = words.slice(0, words.findIndex((word) => !/^[a-z]+$/.test(word)) >>> 0)
  let help = ''
  const code = await runCli([...names, '--help'], {
    environment: {},
    writeOut: (text) => (help += text),
    writeError: (text) => (help += text),
    isTerminal: false,
    readLine: async () => '',
    readInput: async () => '',
    signal: new AbortController().signal,
  })
  expect([code, help]).toEqual([0, expect.stringContaining(`Usage: ${['portico', ...names].join(' ')}`)])
  for (const word of words) if (/^--[a-z]/.test(word)) expect(help, word).toContain(word)
}

/** A pdf of one page with one line of text. */
function onePagePdf(text: string): string {
  const stream = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('')
  return `%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size 6 >>\n%%EOF\n`
}
