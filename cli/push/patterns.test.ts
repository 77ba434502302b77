import { describe, expect, test } from 'vitest'
import { createGlob, isIgnored, parseIgnoreFile } from './patterns.ts'

describe('globs', () => {
  test.each([
    ['*.md', 'a.md', true],
    ['*.md', 'deep/er/a.md', true],
    ['*.md', 'a.mdx', false],
    ['docs/*.md', 'docs/a.md', true],
    ['docs/*.md', 'docs/deep/a.md', false],
    ['docs/*.md', 'other/docs/a.md', false],
    ['docs/**', 'docs/deep/a.md', true],
    ['docs/', 'docs/deep/a.md', true],
    ['docs/**/a.md', 'docs/a.md', true],
    ['**/drafts/**', 'x/drafts/y/z.md', true],
    ['/a.md', 'a.md', true],
    ['a?.md', 'ab.md', true],
    ['a?.md', 'a/.md', false],
    ['[a-c].md', 'b.md', true],
    ['[!a-c].md', 'b.md', false],
    ['[!a-c].md', 'é.md', true],
    ['[z-a].md', 'b.md', false],
    ['a+(b).md', 'a+(b).md', true],
    [String.raw`\*.md`, '*.md', true],
    [String.raw`\*.md`, 'a.md', false],
    ['Ünïcode *.md', 'Ünïcode 1.md', true],
    ['docs', 'deep/docs/a.md', true],
    ['./docs/*.md', 'docs/a.md', true],
    ['!a.md', '!a.md', true],
    ['!a.md', 'b.md', false],
    ['#a.md', '#a.md', true],
    ['*.md', 'a.MD', false],
  ])('%s on %s: %s', (glob, path, expected) => {
    expect(createGlob(glob)(path)).toBe(expected)
  })
})

describe('ignore files', () => {
  const rules = [
    parseIgnoreFile('# comment\n\nbuild/\n*.txt\n!keep.txt\n/top.md\n', ''),
    parseIgnoreFile('inner.md\r\n!kept.txt\r\n', 'docs/'),
  ]
  test.each([
    ['build', true, true],
    ['build', false, false],
    ['docs/build', true, true],
    ['a.txt', false, true],
    ['docs/a.txt', false, true],
    ['docs/keep.txt', false, false],
    ['top.md', false, true],
    ['docs/top.md', false, false],
    ['docs/inner.md', false, true],
    ['inner.md', false, false],
    ['docs/kept.txt', false, false],
  ])('%s (folder: %s) is ignored: %s', (path, isFolder, expected) => {
    expect(isIgnored(rules, path, isFolder)).toBe(expected)
  })
})
