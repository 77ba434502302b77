import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A file of the repository: its path relative to the root, with forward slashes, and its text. */
export interface SourceFile {
  path: string
  text: string
}

export const repositoryRoot = path.resolve(import.meta.dirname, '../..')

/** Reads every file below `places` (folders or files of the repository) whose path matches `pattern`. */
export function readSourceFiles(places: readonly string[], pattern: RegExp): SourceFile[] {
  return listPaths(places)
    .filter((file) => pattern.test(file))
    .map((file) => ({ path: file, text: readFileSync(path.join(repositoryRoot, file), 'utf8') }))
}

/** The paths of all files below `places` without installed packages, sorted. */
export function listPaths(places: readonly string[]): string[] {
  const entries = readdirSync(repositoryRoot, { withFileTypes: true }).filter(({ name }) => places.includes(name))
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : listFolder(entry.name))).toSorted()
}

function listFolder(folder: string): string[] {
  return readdirSync(path.join(repositoryRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(repositoryRoot, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('/node_modules/'))
}

/** The line of a position in a text, counted from 1. */
export function lineAt(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line++
  return line
}
