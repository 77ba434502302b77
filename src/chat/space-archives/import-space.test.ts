import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArchiveWriter } from '../../platform/archive/index.ts'
import { type SpaceHeader, spaceArchiveLimits } from '../../contract/space-archives.ts'
import {
  AppError,
  type DocumentId,
  isAppError,
  type OrganisationId,
  silentLog,
  systemClock,
} from '../../platform/kernel/index.ts'
import { makeSpace } from '../spaces/index.ts'
import { type ImportDependencies, importSpace } from './import-space.ts'
import { parsePath, pathOf, spaceArchive } from './layout.ts'
import { readVectors, writeVectors } from './vector-bytes.ts'
import { testSeed } from '../../../test/harness/seed.ts'

/** The reader of archives against damaged and hostile ones; the stores only count. */

const seed = testSeed
const form = { dimensions: 4, values: 'float32' as const }
const header: SpaceHeader = {
  format: 1,
  portico: '0.1.0',
  exportedAt: '2026-11-22T12:00:00.000Z',
  space: { name: 'Museum', instructions: '', model: 'm', settings: { maximumPassages: 5 } },
  embedder: { id: 'e', ...form },
}
const file = Buffer.from('The museum opens at ten.')
const document = {
  name: 'museum.txt',
  format: 'txt',
  charset: null,
  sizeBytes: file.length,
  sha256: '',
  metadata: '{"n":1.10}',
  warnings: [],
  pageCount: null,
  hasChunks: true,
}
const chunk = {
  index: 0,
  text: 'The museum opens at ten.',
  headingPath: [],
  tableHeader: null,
  tokens: 6,
  pageFrom: null,
  pageTo: null,
  pageStarts: [],
  characterFrom: 0,
  characterTo: 24,
  rowFrom: null,
  rowTo: null,
}
const question = {
  messages: [{ role: 'user', content: 'When?' }],
  expectedDocuments: [{ document: 1, name: 'museum.txt' }],
  expectedFacts: [],
  mustAbstain: false,
}

type Parts = Record<string, string | Uint8Array>

function usualParts(): Parts {
  const sha256 = createHash('sha256').update(file).digest('hex')
  return {
    [pathOf({ document: 1, kind: 'document' })]: `${JSON.stringify({ ...document, sha256 })}\n`,
    [pathOf({ document: 1, kind: 'file' })]: file,
    [pathOf({ document: 1, kind: 'chunks', part: 1 })]: `${JSON.stringify(chunk)}\n`,
    [pathOf({ document: 1, kind: 'vectors', part: 1 })]: writeVectors(form, [Float32Array.of(1, 0.5, -2, 0)]),
    [pathOf({ document: 1, kind: 'end' })]: '{"chunks":1}\n',
    [pathOf({ kind: 'questions', part: 1 })]: `${JSON.stringify(question)}\n`,
  }
}

async function write(
  parts: Parts,
  given: object = header,
  manifest: object = { documents: 1, chunks: 1, goldenQuestions: 1 },
) {
  const writer = new ArchiveWriter(spaceArchive, given, new AbortController().signal)
  const bytes = buffer(writer.stream())
  for (const [name, content] of Object.entries(parts)) await writer.addBytes(name, Buffer.from(content))
  await writer.finish(manifest)
  return bytes
}

/** Imports with stores in memory; resolves to what they hold. */
async function runImport(archive: Uint8Array, changed: Partial<ImportDependencies> = {}) {
  const stored = {
    spaces: [] as unknown[],
    staged: [] as unknown[],
    apiVersions: [] as number[],
    published: 0,
    completed: 0,
    abandoned: 0,
    blobs: 0,
  }
  const dependencies: ImportDependencies = {
    store: {
      begin: async () => {},
      renew: async () => true,
      abandon: async () => void stored.abandoned++,
      abandonAll: async () => {},
      complete: async ({ name, instructions, model, settings }) => {
        stored.spaces.push({ name, instructions, model, settings })
        return Boolean(++stored.completed)
      },
      recordExport: async () => {},
    },
    spaces: { make: (id, given) => makeSpace(id, given, 0), whenCurrent: async () => {}, wakeRemovals() {} },
    documents: {
      insertImported: async ({ apiVersion }) => void stored.apiVersions.push(apiVersion),
      remove: async () => true,
    },
    blobs: {
      async put(_key, source) {
        for await (const _chunk of source) stored.blobs += 0
        stored.blobs++
      },
      delete: async () => void stored.blobs--,
    },
    chunks: {
      beginRun: async (given) => ({ ...given, runId: 'run', documentId: given.documentId as DocumentId }),
      stage: async ({ chunks, vectors }) => void stored.staged.push(chunks, vectors),
      publish: async () => void stored.published++,
    },
    detectFormat: () => ({ supported: true, mimeType: 'text/plain' }),
    processImported: async () => {},
    embedder: () => ({ id: 'e', dimensions: 4 }),
    maximumUploadBytes: 1_000,
    maximumImportBytes: 1_000_000,
    clock: systemClock,
    log: silentLog,
    ...changed,
  }
  const source = (async function* () {
    for (let at = 0; at < archive.length; at += 700) yield archive.subarray(at, at + 700)
  })()
  const request = {
    organisationId: '00000000-0000-4000-8000-000000000001' as OrganisationId,
    name: undefined,
    model: undefined,
    actor: { name: 'operator' } as never,
    signal: new AbortController().signal,
  }
  const outcome = await importSpace(dependencies, { ...request, source }).then(
    (imported) => ({ imported }),
    (error: unknown) => ({ error }),
  )
  return { ...outcome, stored }
}

async function expectRefused(archive: Uint8Array, message: RegExp, limits = {}) {
  const result = await runImport(archive, limits)
  if (!('error' in result)) throw new Error('the archive was imported')
  expect(isAppError(result.error), String((result.error as Error).stack)).toBe(true)
  expect((result.error as Error).message).toMatch(message)
  expect(result.stored).toMatchObject({ completed: 0, abandoned: 1 })
}

it('imports a whole archive', async () => {
  const { stored, ...result } = await runImport(await write(usualParts()))
  expect(result).toMatchObject({ imported: { documents: 1, chunks: 1, goldenQuestions: 1, embedding: 'kept' } })
  expect(stored.staged).toEqual([[chunk], [Float32Array.of(1, 0.5, -2, 0)]])
  expect(stored).toMatchObject({ published: 1, completed: 1, abandoned: 0, blobs: 1 })
})

it.each([
  ['states version 2', { apiVersion: 2 }, 2],
  ['is older than the field', {}, 1],
])('reads files of an archive that %s accordingly', async (_what, given, apiVersion) => {
  const sha256 = createHash('sha256').update(file).digest('hex')
  const described = { [pathOf({ document: 1, kind: 'document' })]: JSON.stringify({ ...document, sha256, ...given }) }
  const { stored } = await runImport(await write({ ...usualParts(), ...described }))
  expect(stored.apiVersions).toEqual([apiVersion])
})

it('passes on the error of a full disk, and reports a removal that has begun', async () => {
  const whole = await write(usualParts())
  const full = new AppError('overloaded', 'The server has no room for this file at the moment.')
  const noRoom = await runImport(whole, { blobs: { put: () => Promise.reject(full), delete: async () => {} } })
  expect(noRoom).toMatchObject({ error: full, stored: { completed: 0, abandoned: 1 } })
  const store = { complete: async () => false, begin: async () => {}, abandon: async () => {} }
  const late = await runImport(whole, { store: store as never })
  expect(late).toMatchObject({ error: { code: 'overloaded', message: expect.stringContaining('took too long') } })
})

it('never completes, and never fails unexpectedly, with a damaged byte or a missing end', async () => {
  const whole = await write(usualParts())
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (at, flip, isCut) => {
        const damaged = isCut ? whole.subarray(0, at) : Buffer.from(whole)
        if (!isCut) damaged[at]! ^= flip
        const result = await runImport(damaged)
        if ('error' in result) {
          expect(isAppError(result.error), String((result.error as Error).stack)).toBe(true)
          expect(result.stored.completed).toBe(0)
          return
        }
        // Padding, the owner and the time of an entry, and the space of the manifest hold nothing that is imported.
        expect(result.stored.spaces).toMatchObject([header.space])
        expect(result.stored.staged).toEqual([[chunk], [Float32Array.of(1, 0.5, -2, 0)]])
      },
    ),
    { numRuns: 300, seed },
  )
})

it('refuses every order of parts but the right one', async () => {
  const entries = Object.entries(usualParts())
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(entries, { minLength: 1 }), async (shuffled) => {
      const result = await runImport(await write(Object.fromEntries(shuffled)))
      const isWhole = JSON.stringify(shuffled) === JSON.stringify(entries)
      expect('imported' in result).toBe(isWhole)
    }),
    { numRuns: 150, seed },
  )
})

describe('a hostile archive', () => {
  const changed = (change: Parts, given?: object, manifest?: object) =>
    write({ ...usualParts(), ...change }, given, manifest)
  const documentPath = pathOf({ document: 1, kind: 'document' })
  const chunksPath = pathOf({ document: 1, kind: 'chunks', part: 1 })
  const lineOf = (fields: object) => `${JSON.stringify({ ...chunk, ...fields })}\n`
  const described = (fields: object) => JSON.stringify({ ...JSON.parse(String(usualParts()[documentPath])), ...fields })

  it.each<[string, () => Promise<Buffer>, RegExp]>([
    [
      'a path outside',
      () => changed({ '../../etc/passwd': 'x' }),
      /an entry that no Space archive has: "\.\.\/\.\.\/etc\/passwd"/,
    ],
    ['an absolute path', () => changed({ '/documents/000001/file': 'x' }), /no Space archive has/],
    ['a newer format', () => changed({}, { ...header, format: 2 }), /has format 2, which this version/],
    ['a header that is none', () => changed({}, { format: 1 }), /portico-space\.json of the archive is not valid/],
    [
      'an embedder of a million dimensions',
      () => changed({}, { ...header, embedder: { ...header.embedder, dimensions: 1e6 } }),
      /embedder\.dimensions/,
    ],
    [
      'a file of another size',
      () => changed({ [documentPath]: described({ sizeBytes: 5 }) }),
      /has 24 bytes instead of 5/,
    ],
    [
      'another hash',
      () => changed({ [documentPath]: described({ sha256: 'a'.repeat(64) }) }),
      /the SHA-256 of documents\/000001\/file/,
    ],
    [
      'a role',
      () => changed({ [documentPath]: described({ organisationId: 'x' }) }),
      /documents\/000001\/document\.json: Unrecognized key/,
    ],
    [
      'metadata that is no object',
      () => changed({ [documentPath]: described({ metadata: '[1]' }) }),
      /metadata: must be a JSON object/,
    ],
    ['deep JSON', () => changed({ [chunksPath]: `${'['.repeat(100_000)}\n` }), /chunks-000001\.jsonl:1/],
    ['a text with U+0000', () => changed({ [chunksPath]: lineOf({ text: 'a\0b' }) }), /U\+0000/],
    [
      'half of a surrogate pair',
      () => changed({ [chunksPath]: `${JSON.stringify(chunk).replace('museum', '\\ud800')}\n` }),
      /surrogate/,
    ],
    [
      'a chunk that is too long',
      () => changed({ [chunksPath]: lineOf({ text: 'x'.repeat(100_000) }) }),
      /a text has more than 49152 bytes/,
    ],
    [
      'a line that is too long',
      () => changed({ [chunksPath]: lineOf({ text: 'x'.repeat(600_000) }) }),
      /the limit is 524288/,
    ],
    ['too many lines', () => changed({ [chunksPath]: lineOf({}).repeat(65) }), /more than 64 lines/],
    ['a repeated index', () => changed({ [chunksPath]: lineOf({}).repeat(2) }), /the index is not 1/],
    [
      'vectors that are too few',
      () => changed({ [pathOf({ document: 1, kind: 'vectors', part: 1 })]: new Uint8Array(12) }),
      /has 12 bytes; 1 vectors have 16/,
    ],
    [
      'a vector that is not a number',
      () =>
        changed({
          [pathOf({ document: 1, kind: 'vectors', part: 1 })]: writeVectors(form, [Float32Array.of(NaN, 1, 1, 1)]),
        }),
      /not a finite number/,
    ],
    [
      'more chunks than stated',
      () => changed({ [pathOf({ document: 1, kind: 'end' })]: '{"chunks":2}' }),
      /states 2 chunks, and the archive has 1/,
    ],
    [
      'a manifest of other counts',
      () => changed({}, header, { documents: 1, chunks: 1, goldenQuestions: 7 }),
      /states 7 golden questions/,
    ],
  ])('with %s is refused', async (_what, make, message) => {
    await expectRefused(await make(), message)
  })

  it('is refused above the limits in bytes', async () => {
    const whole = await write(usualParts())
    await expectRefused(whole, /at most 2000 bytes/, { maximumImportBytes: 2_000 })
    await expectRefused(whole, /the limit of a document is 10/, { maximumUploadBytes: 10 })
  })

  it('with a declared size of gigabytes, a link, or endless empty entries is refused at once', async () => {
    const whole = await write(usualParts())
    const huge = patchEntry(whole, chunksPath, (entry) => entry.write('77777777777\0', 124))
    await expectRefused(huge, new RegExp(`the limit is ${spaceArchiveLimits.partBytes}`))
    const link = patchEntry(whole, chunksPath, (entry) => entry.write('2', 156))
    await expectRefused(link, /neither file nor folder/)
    const sums = patchEntry(whole, 'sums/', (entry) => entry.write('00000000000\0', 124))
    const empty = sums.subarray(sums.indexOf('sums/'), sums.indexOf('sums/') + 512)
    const first = whole.indexOf('documents/')
    const endless = Buffer.concat([whole.subarray(0, first), empty, whole.subarray(first)])
    await expectRefused(endless, /SHA-256 values of no file/)
  })

  it('with a large extended header or a global one is refused before it is parsed', async () => {
    const whole = await write(usualParts())
    const first = whole.indexOf('documents/')
    const insert = (type: string, content: Buffer) =>
      Buffer.concat([whole.subarray(0, first), extendedHeader(type, content), whole.subarray(first)])
    const usual = Buffer.from('20 mtime=1700000000\n')
    expect(await runImport(insert('x', usual))).toMatchObject({ stored: { completed: 1 } })
    await expectRefused(insert('g', usual), /Invalid global header/)
    await expectRefused(insert('x', Buffer.from('9 aaaaa=\n'.repeat(2_000))), /Header exceeds 16384 bytes/)
    await expectRefused(insert('L', Buffer.alloc(20_000, 'x')), /Header exceeds 16384 bytes/)
  })
})

/** An extended header (`x`, `g`) or a long name (`L`) with its content. */
function extendedHeader(type: string, content: Buffer): Buffer {
  const entry = Buffer.alloc(512 + Math.ceil(content.length / 512) * 512)
  entry.write('header')
  content.copy(entry, 512)
  return patchEntry(entry, 'header', (header) => {
    header.write('0000644\0', 100)
    header.write(`${content.length.toString(8).padStart(11, '0')} `, 124)
    header.write(type, 156)
    header.write('ustar\u000000', 257)
  })
}

/** Changes the header of an entry and its checksum. */
function patchEntry(archive: Buffer, name: string, change: (entry: Buffer) => void): Buffer {
  const patched = Buffer.from(archive)
  const entry = patched.subarray(patched.indexOf(name), patched.indexOf(name) + 512)
  change(entry)
  entry.fill(' ', 148, 156)
  const sum = entry.reduce((total, byte) => total + byte, 0)
  entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return patched
}

it('reads what it writes: paths and vectors, bit by bit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 1, max: 999_999 }), (document_, part) => {
      for (const kind of ['document', 'file', 'end'] as const)
        expect(parsePath(pathOf({ document: document_, kind }))).toEqual({ document: document_, kind })
      for (const kind of ['chunks', 'vectors'] as const)
        expect(parsePath(pathOf({ document: document_, kind, part }))).toEqual({ document: document_, kind, part })
      expect(parsePath(pathOf({ kind: 'questions', part }))).toEqual({ kind: 'questions', part })
    }),
    { seed },
  )
  fc.assert(
    fc.property(
      fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 4, maxLength: 4 }),
      (values) => {
        const vector = Float32Array.from(values)
        expect(readVectors(form, writeVectors(form, [vector]))).toEqual([vector])
      },
    ),
    { seed },
  )
})
