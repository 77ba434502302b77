import path from 'node:path'
import { hideAddresses, readVisible } from './prose.ts'
import { lineAt, type SourceFile } from './source-files.ts'

/** What exists in the repository. */
export interface Repository {
  /** Every file, relative to the root. */
  paths: readonly string[]
  /** The text of a document. */
  read(path: string): string
}

export interface BrokenReference {
  path: string
  line: number
  reference: string
  reason: string
}

/** A link of Markdown; the target may have a title behind it. */
const linkPattern = /\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g

/** In inline code it is an example. */
const hideInlineCode = (text: string) => text.replaceAll(/`[^`\n]+`/g, (code) => ' '.repeat(code.length))

/** A path below one of the repository's folders, wherever it is mentioned; not one with a wildcard or a placeholder. */
const folderPattern = /(?<![\w./~$}-])(?:src|docs|test|bench|scripts|cli|bin)\/[\w./-]*\w\/?(?![\w./-]*[\w*<{$])/g

/** The name of a module or a document, with or without folders: `ledger.store.ts`, `gateway/complete.ts`, `openai/flavours.ts`. */
const filePattern = /(?<![\w./~$}@*<>-])(?:\.{1,2}\/)*(?:[\w-]+\/)*[\w-][\w.-]*\.(?:tsx?|md|sql|wat)\b(?![\w*/])/g

const outsidePattern = /(?<![\w.])\.\.\/shared\b[\w./-]*/g

/** `x.routes.ts` and `src/ROOM/x.test.ts` stand for any name. */
const placeholder = /(?:^|\/)(?:[a-z]\.|[A-Z]{2,}(?:\/|\.ts|$))/

/**
 * References in comments, messages and documents to what does not exist. A link is relative to its document. Elsewhere a path may be
 * relative to the file or to the root, or be the end of a path: `complete.ts` and `gateway/complete.ts` name
 * `src/gateway/gateway/complete.ts`. Outside of the repository only the folder of shared data may be named, which is a setting. Messages and
 * documents also name files of users: there a file counts when its path begins with a folder of the repository or it is a module.
 */
export function findBrokenReferences(files: readonly SourceFile[], repository: Repository): BrokenReference[] {
  const known = indexPaths(repository.paths)
  return files.flatMap((file) => checkFile(file, known, repository))
}

function checkFile(file: SourceFile, known: KnownPaths, repository: Repository): BrokenReference[] {
  const visible = readVisible(file)
  const comments = readVisible(file, { messages: false })
  if (visible === null || comments === null) return []
  const isDocument = file.path.endsWith('.md')
  const links = isDocument ? [...hideInlineCode(visible).matchAll(linkPattern)] : []
  const prose = isDocument ? visible.replaceAll(linkPattern, (match) => ' '.repeat(match.length)) : visible
  const mentions = [
    ...hideAddresses(prose).matchAll(folderPattern),
    ...hideAddresses(isDocument ? prose : comments).matchAll(filePattern),
  ].filter(([reference]) => !(isDocument && reference.endsWith('.md') && !reference.startsWith('docs/')))
  const broken = (match: RegExpExecArray, reference: string, reason: string) => ({
    path: file.path,
    line: lineAt(file.text, match.index),
    reference,
    reason,
  })
  return [
    ...links.flatMap((match) => {
      const reason = checkLink(file, match[1]!, known, repository)
      return reason ? [broken(match, match[1]!, reason)] : []
    }),
    ...[...prose.matchAll(outsidePattern)]
      .filter(([reference]) => !reference.startsWith('../shared/data'))
      .map((match) => broken(match, match[0], 'is outside of the repository')),
    ...[...new Map(mentions.map((match) => [match.index, match])).values()]
      .filter(([reference]) => !reference.startsWith('../shared') && !placeholder.test(reference))
      .filter(([reference]) => !exists(file.path, reference, known))
      .map((match) => broken(match, match[0], 'does not exist')),
  ]
}

interface KnownPaths {
  /** Files and folders relative to the root, and every end of them. */
  ends: ReadonlySet<string>
  full: ReadonlySet<string>
}

function indexPaths(paths: readonly string[]): KnownPaths {
  const full = new Set<string>()
  for (const file of paths) for (let at = file; at !== '.'; at = path.posix.dirname(at)) full.add(at)
  const ends = new Set<string>()
  for (const one of full) {
    const parts = one.split('/')
    for (let start = 0; start < parts.length; start++) ends.add(parts.slice(start).join('/'))
  }
  return { ends, full }
}

function exists(from: string, reference: string, { ends, full }: KnownPaths): boolean {
  const plain = reference.replace(/\/$/, '')
  return full.has(path.posix.join(path.posix.dirname(from), plain)) || ends.has(plain)
}

/** Null where the link is right. */
function checkLink(file: SourceFile, target: string, { full }: KnownPaths, repository: Repository): string | null {
  if (/^[a-z]+:/.test(target)) return null
  const [place, anchor] = target.split('#')
  const document = place ? path.posix.join(path.posix.dirname(file.path), place) : file.path
  if (!full.has(document.replace(/\/$/, ''))) return 'does not exist'
  if (anchor === undefined || !document.endsWith('.md')) return null
  const text = place ? repository.read(document) : file.text
  return headings(text).includes(anchor) ? null : 'names a heading that does not exist'
}

/** The anchors of a document's headings, as GitHub makes them. */
function headings(markdown: string): string[] {
  return [...markdown.matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
