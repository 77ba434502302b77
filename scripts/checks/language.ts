import { excluded, type Term, terms } from './language-terms.ts'
import { readProse } from './prose.ts'
import { lineAt, type SourceFile } from './source-files.ts'

export interface LanguageHit {
  path: string
  line: number
  /** What was found, white space folded. */
  found: string
  /** What to write. */
  write: string
}

/** Finds the terms of `language-terms.ts` in the prose and in the declared names of files. */
export function findTerms(files: readonly SourceFile[]): LanguageHit[] {
  return files
    .filter((file) => !excluded.some(({ paths }) => paths.test(file.path)))
    .flatMap((file) => {
      const applied = terms.filter(({ only, except }) => (only?.test(file.path) ?? true) && !except?.test(file.path))
      return [...findInPath(file, applied), ...findInText(file, applied)].toSorted((a, b) => a.line - b.line)
    })
}

function findInPath({ path }: SourceFile, applied: Term[]): LanguageHit[] {
  const words = splitName(path.replace(/^.*\//, '').replace(/\..*$/, ''))
  return applied.filter(({ name }) => name?.test(words)).map(({ write }) => ({ path, line: 1, found: path, write }))
}

function findInText(file: SourceFile, applied: Term[]): LanguageHit[] {
  const prose = readProse(file)
  if (!prose) return []
  const hits: LanguageHit[] = []
  for (const { prose: pattern, name: namePattern, write } of applied) {
    const add = (position: number, found: string) =>
      hits.push({ path: file.path, line: lineAt(file.text, position), found: found.replaceAll(/\s+/g, ' '), write })
    if (pattern) for (const match of prose.text.matchAll(compile(pattern))) add(match.index, match[0])
    if (namePattern) {
      for (const { name, position } of prose.names) if (namePattern.test(splitName(name))) add(position, name)
    }
  }
  return hits
}

const compiled = new Map<RegExp, RegExp>()

/** A space of a term matches any white space. */
function compile(pattern: RegExp): RegExp {
  let found = compiled.get(pattern)
  if (!found) compiled.set(pattern, (found = new RegExp(pattern.source.replaceAll(' ', '\\s+'), 'gi')))
  return found
}

/** `wordScore`, `word-score` and `word_score` as `word score`. */
function splitName(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase()
}
