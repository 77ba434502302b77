import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { supportedFileTypes } from '../../src/contract/documents.ts'
import { type IgnoreFile, isIgnored, type Matcher, parseIgnoreFile } from './patterns.ts'

/** A file of a supported type. */
export interface LocalFile {
  /** Below the folder, NFC, with `/` between folders. */
  path: string
  /** For the file system. */
  location: string
  /** Files with metadata for this file, which override its front matter in this order. */
  sidecars: string[]
}

export interface SkippedFile {
  path: string
  reason: string
}

export interface FolderListing {
  files: LocalFile[]
  skipped: SkippedFile[]
  /** Folders and files that could not be read: nothing may be deleted because of this listing. */
  unreadable: SkippedFile[]
}

export const ignoreFile = '.porticoignore'
const sidecarEnding = /\.meta\.(?:json|ya?ml)$/
const { supportedExtensions } = supportedFileTypes[2]

interface Walk extends FolderListing {
  root: string
  isWanted: Matcher
  sidecars: Map<string, string[]>
  seen: Set<string>
}

/**
 * Lists the files of a folder, sorted by path. Dotfiles, ignored paths and paths that `isWanted` rejects are left out; files of other
 * types, links that lead out of the folder or to a folder, and names that are no text are skipped.
 */
export function walkFolder(folder: string, isWanted: Matcher): FolderListing {
  const root = realpathSync(folder)
  const walk: Walk = { root, isWanted, files: [], skipped: [], unreadable: [], sidecars: new Map(), seen: new Set() }
  readFolder(walk, '', [])
  for (const file of walk.files) {
    file.sidecars = walk.sidecars.get(file.path)?.sort() ?? []
    walk.sidecars.delete(file.path)
  }
  for (const [owner, sidecars] of walk.sidecars) {
    if (walk.skipped.some((skipped) => skipped.path === owner)) continue
    for (const sidecar of sidecars) skip(walk, path.relative(root, sidecar), 'metadata of a file that is not pushed')
  }
  const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1)
  return { files: walk.files.sort(byPath), skipped: walk.skipped.sort(byPath), unreadable: walk.unreadable }
}

/** `relative` is empty or ends with a slash. */
function readFolder(walk: Walk, relative: string, inherited: readonly IgnoreFile[]): void {
  const location = path.join(walk.root, relative)
  let entries: Dirent[]
  let rules = inherited
  try {
    entries = readdirSync(location, { withFileTypes: true })
    if (entries.some(({ name }) => name === ignoreFile)) {
      rules = [...inherited, parseIgnoreFile(readFileSync(path.join(location, ignoreFile), 'utf8'), relative)]
    }
  } catch (error) {
    walk.unreadable.push({ path: relative || '.', reason: codeOf(error) })
    return
  }
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const inner = relative + entry.name
    if (isIgnored(rules, inner, entry.isDirectory())) continue
    if (entry.isDirectory()) readFolder(walk, `${inner}/`, rules)
    else addEntry(walk, entry, inner)
  }
}

function addEntry(walk: Walk, entry: Dirent, inner: string): void {
  const location = path.join(walk.root, inner)
  const normalised = inner.normalize('NFC')
  const isSidecar = sidecarEnding.test(inner)
  if (!isSidecar && !walk.isWanted(normalised)) return
  const reason = reasonToSkip(walk, entry, location, inner)
  if (reason?.unreadable) walk.unreadable.push({ path: inner, reason: reason.text })
  else if (reason) skip(walk, inner, reason.text)
  else if (isSidecar) {
    const owner = normalised.replace(sidecarEnding, '')
    if (!walk.isWanted(owner)) return
    walk.sidecars.set(owner, [...(walk.sidecars.get(owner) ?? []), location])
  } else if (!supportedExtensions.includes(path.extname(inner).toLowerCase())) skip(walk, inner, 'type not supported')
  else if (walk.seen.has(normalised)) skip(walk, inner, 'another file has this name in another Unicode form')
  else {
    walk.seen.add(normalised)
    walk.files.push({ path: normalised, location, sidecars: [] })
  }
}

function reasonToSkip(walk: Walk, entry: Dirent, location: string, inner: string) {
  if (inner.includes('\ufffd')) return { text: 'the name is no valid UTF-8' }
  if (entry.isFile()) return undefined
  if (!entry.isSymbolicLink()) return { text: 'no regular file' }
  try {
    const target = realpathSync(location)
    if (!target.startsWith(walk.root + path.sep)) return { text: 'a link out of the folder' }
    return statSync(target).isFile() ? undefined : { text: 'a link to something other than a file' }
  } catch (error) {
    const code = codeOf(error)
    return code === 'ENOENT' || code === 'ELOOP' ? { text: 'a broken link' } : { text: code, unreadable: true }
  }
}

function skip(walk: Walk, inner: string, reason: string): void {
  walk.skipped.push({ path: inner, reason })
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
