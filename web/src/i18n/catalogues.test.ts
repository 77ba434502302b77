import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

/** The catalogues of texts: src/i18n (namespace `common`), two in src/ui, and one per folder of src/pages. */

const source = path.resolve(import.meta.dirname, '..')
const folders = [
  {
    namespace: 'common',
    catalogue: path.join(source, 'i18n'),
    code: ['app', 'ui', 'i18n', 'api'].map((name) => path.join(source, name)),
  },
  ...['failures', 'conflict'].map((name) => {
    const folder = path.join(source, 'ui', name)
    return { namespace: name, catalogue: folder, code: [folder] }
  }),
  ...readdirSync(path.join(source, 'pages')).map((name) => ({
    namespace: name,
    catalogue: path.join(source, 'pages', name),
    code: [path.join(source, 'pages', name)],
  })),
]

describe.each(folders)('the texts of $namespace', ({ catalogue, code }) => {
  const en = flatten(read(catalogue, 'en'))
  const de = flatten(read(catalogue, 'de'))

  it('have the same keys and placeholders in both languages, and none is empty', () => {
    expect([...de.keys()].toSorted()).toEqual([...en.keys()].toSorted())
    for (const [key, text] of en) {
      expect(text.trim(), key).not.toBe('')
      expect(de.get(key)!.trim(), key).not.toBe('')
      expect(placeholders(de.get(key)!), key).toEqual(placeholders(text))
    }
  })

  it('are all in use', () => {
    const text = code.map(readCode).join('\n')
    const unused = [...en.keys()].filter((key) => !isUsed(key, text))
    expect(unused).toEqual([])
  })
})

function read(folder: string, language: string): object {
  return JSON.parse(readFileSync(path.join(folder, `${language}.json`), 'utf8'))
}

function flatten(texts: object, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[prefix + name, value]] : [...flatten(value, `${prefix}${name}.`)],
    ),
  )
}

function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{\s*([\w.]+)/g)].map(([, name]) => name!))].toSorted()
}

function readCode(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}

/** A key is in the code as a whole, or as a template whose fixed beginning ends with a dot: t(`status.${value}`). */
function isUsed(key: string, code: string): boolean {
  const base = key.replace(/_(?:zero|one|two|few|many|other)$/, '')
  if ([`'${base}'`, `"${base}"`, `:${base}'`].some((literal) => code.includes(literal))) return true
  const parts = base.split('.')
  return parts.some((_, index) => index > 0 && code.includes(`\`${parts.slice(0, index).join('.')}.\${`))
}
