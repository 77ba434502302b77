import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { releaseUnusedFiles } from './bundled-files.ts'

interface Files {
  lookupPath(path: string): { node: { contents: Uint8Array } }
  analyzePath(path: string): { exists: boolean }
}

const initialisation = '/pglite/share/postgresql/postgres.bki'
let instance: PGlite
let files: Files
let bundle: ArrayBufferLike

beforeAll(async () => {
  instance = await PGlite.create({ extensions: { vector } })
  files = instance.Module.FS as unknown as Files
  bundle = files.lookupPath(initialisation).node.contents.buffer
  expect(bundle.byteLength).toBeGreaterThan(5_000_000)
  releaseUnusedFiles(instance)
})
afterAll(() => instance?.close())

it('frees the block of bundled files', () => {
  expect(bundle.byteLength).toBe(0)
  expect(files.analyzePath(initialisation).exists).toBe(false)
})

it('leaves what statements read: extensions, languages and time zones', async () => {
  await instance.exec(`create extension vector; do language plpgsql 'begin perform 1; end'`)
  const { rows } = await instance.query<{ local: string; distance: number }>(
    `select to_char('2026-01-01 12:00Z'::timestamptz at time zone 'Asia/Kolkata', 'HH24:MI') local,
      '[1,2]'::vector <-> '[1,3]'::vector distance, to_tsvector('english', 'running') @@ 'run' stemmed`,
  )
  expect(rows).toEqual([{ local: '17:30', distance: 1, stemmed: true }])
})
