import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sharedDataFolder } from '../harness/shared-data.ts'

const shared = sharedDataFolder('wire')
const script = path.join(import.meta.dirname, '../../scripts/conformance.ts')
const ownRecords = path.join(import.meta.dirname, 'records')
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-conformance-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe.skipIf(!shared)(
  shared ? 'docs/reference/conformance.md' : 'docs/reference/conformance.md (skipped: shared data not found)',
  () => {
    test('matches the shared recordings and the table of calls', async () => {
      expect(await run('--check')).toMatchObject({ code: 0, lastLine: expect.stringMatching(/^\d+ passed, 0 failed$/) })
    })
  },
)

describe('another folder of recordings', () => {
  test('is checked alone, answers and requests, in its wire folder or itself', async () => {
    const plain = writeRecord('plain', {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.5,
    })
    writeIndex('wire', [plain])
    expect(await run('--data', folder)).toMatchObject({ code: 0, lastLine: '2 passed, 0 failed' })
    rmSync(path.join(folder, 'wire'), { recursive: true })
    writeIndex('.', [plain])
    expect(await run('--data', folder)).toMatchObject({ code: 0, lastLine: '2 passed, 0 failed' })
  })

  test('may contain unknown hosts, unknown fields and invalid files', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    writeIndex('.', [
      { ...writeRecord('new-host', { model: 'm', messages, top_k: 3 }), provider: 'host-of-tomorrow' },
      writeRecord('image', { model: 'gpt-4o', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }),
      writeRecord('no-object', [1, 2]),
      { ...writeRecord('gone', {}), request_file: 'requests/nowhere.json' },
      { ...writeRecord('none', {}), request_file: null },
    ])
    const { code, lines, lastLine } = await run('--data', folder)
    expect({ code, lastLine }).toEqual({ code: 0, lastLine: '5 passed, 0 failed' })
    expect(lines.at(-2)).toMatch(/^4 requests in part/)
  })

  test('fails for an unknown format, and checks the rest', async () => {
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
    writeIndex('.', [{ ...writeRecord('odd', body), api: 'carrier-pigeon' }, writeRecord('plain', body)])
    expect(await run('--data', folder)).toMatchObject({ code: 1, lastLine: '2 passed, 1 failed' })
  })
})

/** A record of a valid answer whose request is `body`. */
function writeRecord(name: string, body: unknown): Record<string, unknown> {
  const index = JSON.parse(readFileSync(path.join(ownRecords, 'index.json'), 'utf8')) as {
    records: Record<string, unknown>[]
  }
  const record = index.records.find(({ kind }) => kind === 'nonstream')!
  cpSync(path.join(ownRecords, String(record.file)), path.join(folder, String(record.file)))
  mkdirSync(path.join(folder, 'requests'), { recursive: true })
  writeFileSync(path.join(folder, 'requests', `${name}.json`), JSON.stringify(body))
  return { ...record, provider: 'openai', id: name, request_file: `requests/${name}.json` }
}

function writeIndex(place: string, records: unknown[]) {
  mkdirSync(path.join(folder, place), { recursive: true })
  writeFileSync(path.join(folder, place, 'index.json'), JSON.stringify({ version: 1, records }))
}

async function run(...options: string[]): Promise<{ code: number; lines: string[]; lastLine: string | undefined }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...options], (error, output) => {
      const lines = output.trimEnd().split('\n')
      resolve({ code: error ? Number(error.code) : 0, lines, lastLine: lines.at(-1) })
    })
  })
}
