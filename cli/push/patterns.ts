import ignore, { type Ignore } from 'ignore'

/** Patterns of paths with `/` between folders, and lists of ignored paths, both in the form of .gitignore. */

export type Matcher = (path: string) => boolean

const options = { ignorecase: false }

/** A matcher of whole paths. A pattern without an inner slash matches in every folder, and one that matches a folder also what is in it. */
export function createGlob(pattern: string): Matcher {
  // Neither a comment nor the opposite of a pattern.
  const rule = ignore(options).add(pattern.replace(/^\.\//, '').replace(/^[#!]/, String.raw`\$&`))
  return (path) => rule.ignores(path)
}

/** The rules of an ignore file in `folder`, a path that is empty or ends with a slash. */
export interface IgnoreFile {
  folder: string
  rules: Ignore
}

export function parseIgnoreFile(text: string, folder: string): IgnoreFile {
  return { folder, rules: ignore(options).add(text) }
}

/** The last file with a rule for the path decides; `files` are those of its folders, the outer ones first. */
export function isIgnored(files: readonly IgnoreFile[], path: string, isFolder: boolean): boolean {
  const verdicts = files
    .filter(({ folder }) => path.startsWith(folder))
    .map(({ folder, rules }) => rules.test(path.slice(folder.length) + (isFolder ? '/' : '')))
  return verdicts.findLast(({ ignored, unignored }) => ignored || unignored)?.ignored ?? false
}
