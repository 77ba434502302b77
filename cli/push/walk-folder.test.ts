import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFileMetadata } from './file-metadata.ts'
import { walkFolder } from './walk-folder.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-walk-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string | Buffer = 'Text.'): string {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
const walk = () => walkFolder(folder, () => true)
const paths = () => walk().files.map((file) => file.path)
const metadataOf = (name: string) => readFileMetadata(walk().files.find((file) => file.path === name)!)

test('lists supported files sorted, without dotfiles and ignored ones, and names what it skips', () => {
  for (const name of ['b.md', 'a/c.TXT', 'a/.hidden.md', '.git/x.md', 'logo.gif', 'drafts/d.md', 'a/old.md'])
    write(name)
  write('.porticoignore', 'drafts/\n')
  write('a/.porticoignore', 'old.md\n')
  expect(paths()).toEqual(['a/c.TXT', 'b.md'])
  expect(walk().skipped).toEqual([{ path: 'logo.gif', reason: 'type not supported' }])
})

test('follows links to files of the folder only', () => {
  const outside = mkdtempSync(path.join(tmpdir(), 'portico-outside-'))
  writeFileSync(path.join(outside, 'secret.md'), 'x')
  write('real.md')
  write('docs/inner.md')
  symlinkSync('real.md', path.join(folder, 'inside.md'))
  symlinkSync(path.join(outside, 'secret.md'), path.join(folder, 'outside.md'))
  symlinkSync(outside, path.join(folder, 'outer'))
  symlinkSync('.', path.join(folder, 'docs', 'cycle'))
  symlinkSync('nowhere.md', path.join(folder, 'broken.md'))
  expect(paths()).toEqual(['docs/inner.md', 'inside.md', 'real.md'])
  expect(walk().skipped.map((skipped) => [skipped.path, skipped.reason])).toEqual([
    ['broken.md', 'a broken link'],
    ['docs/cycle', 'a link to something other than a file'],
    ['outer', 'a link out of the folder'],
    ['outside.md', 'a link out of the folder'],
  ])
  rmSync(outside, { recursive: true })
})

test('skips a second file whose name is the same text in Unicode', () => {
  write('caf\u00e9.md')
  write('cafe\u0301.md')
  expect(paths()).toEqual(['caf\u00e9.md'])
  expect(walk().skipped).toHaveLength(1)
})

test('reads front matter, and sidecars that override it', async () => {
  write('a.md', '---\ntitle: Tea\ndate: 2026-11-24\ntags: [x, y]\nversion: 1.5\n---\n# Tea\n')
  write('a.md.meta.yaml', 'title: Green tea\n')
  write('b.pdf')
  write('b.pdf.meta.json', '{"customer": {"id": 7}}')
  expect(await metadataOf('a.md')).toEqual({ title: 'Green tea', date: '2026-11-24', tags: ['x', 'y'], version: 1.5 })
  expect(await metadataOf('b.pdf')).toEqual({ customer: { id: 7 } })
  expect(walk().skipped).toEqual([])
})

test('takes rules of Markdown for text', async () => {
  write('a.md', '---\nA sentence between two rules.\n---\n')
  write('b.md', '---\nno end: here\n')
  expect(await metadataOf('a.md')).toEqual({})
  expect(await metadataOf('b.md')).toEqual({})
})

test('rejects metadata that cannot be read, and metadata that is too large', async () => {
  write('a.md', '---\ntitle: "Tea\n---\n')
  write('b.md')
  write('b.md.meta.json', '[1]')
  write('c.md')
  write('c.md.meta.json', JSON.stringify({ text: 'x'.repeat(17_000) }))
  write(
    'd.md',
    `---\na: &a [x, x, x, x, x, x, x, x, x]\nb: &b [${'*a, '.repeat(30)}]\nc: [${'*b, '.repeat(30)}]\n---\n`,
  )
  await expect(metadataOf('a.md')).rejects.toThrow('front matter')
  await expect(metadataOf('b.md')).rejects.toThrow('must contain an object')
  await expect(metadataOf('c.md')).rejects.toThrow('16384')
  await expect(metadataOf('d.md')).rejects.toThrow('alias')
})
