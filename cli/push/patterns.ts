/** Glob patterns of paths with `/` between folders, and lists of ignored paths in the form of .gitignore. */

export type Matcher = (path: string) => boolean

const special = /[\\^$.|+*?(){}[\]]/

/**
 * A matcher of whole paths: `*` and `?` stay within a folder, `**` spans folders, `[a-z]` is a set, a backslash takes the next
 * character literally. A pattern without an inner slash matches in every folder.
 */
export function createGlob(pattern: string): Matcher {
  const isAnchored = pattern.replace(/\/$/, '').includes('/')
  const body = pattern.replace(/^\.?\//, '').replace(/\/$/, '/**')
  const expression = new RegExp(`^${isAnchored ? '' : '(?:[^/]*/)*'}${toExpression(body)}$`, 'u')
  return (path) => expression.test(path)
}

function toExpression(glob: string): string {
  let expression = ''
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!
    const set = character === '[' ? /^\[[!^]?\]?[^\]]*\]/.exec(glob.slice(at))?.[0] : undefined
    if (glob.startsWith('**/', at) && (at === 0 || glob[at - 1] === '/')) {
      expression += '(?:[^/]*/)*'
      at += 2
    } else if (character === '*') {
      const spansFolders = glob[at + 1] === '*'
      expression += spansFolders ? '.*' : '[^/]*'
      while (glob[at + 1] === '*') at++
    } else if (character === '?') expression += '[^/]'
    else if (set !== undefined) {
      expression += toSet(set)
      at += set.length - 1
    } else {
      const literal = character === '\\' && at + 1 < glob.length ? glob[++at]! : character
      expression += special.test(literal) ? `\\${literal}` : literal
    }
  }
  return expression
}

/** `[!a-z]` as a set of a regular expression. A set whose range is reversed matches its text. */
function toSet(set: string): string {
  const isNegated = /^\[[!^]/.test(set)
  const members = set.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\[\]&~^]/g, String.raw`\$&`)
  const expression = `[${isNegated ? '^/' : ''}${members}]`
  try {
    new RegExp(expression, 'u').test('')
    return expression
  } catch {
    return set.replaceAll(new RegExp(special, 'g'), String.raw`\$&`)
  }
}

export interface IgnoreRule {
  /** True for a line that begins with `!`. */
  restores: boolean
  folderOnly: boolean
  matches: Matcher
}

/**
 * The rules of an ignore file in `folder`, a path that is empty or ends with a slash. As in .gitignore: comments, `!` restores, a slash
 * at the end is for folders only, a slash elsewhere anchors the pattern to the folder.
 */
export function parseIgnoreFile(text: string, folder: string): IgnoreRule[] {
  return text.split(/\r?\n/).flatMap((line): IgnoreRule[] => {
    const trimmed = line.replace(/(?<!\\) +$/, '')
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const restores = trimmed.startsWith('!')
    const pattern = restores ? trimmed.slice(1) : trimmed
    const folderOnly = pattern.endsWith('/')
    const body = folderOnly ? pattern.slice(0, -1) : pattern
    if (body === '' || body === '/') return []
    const glob = createGlob(body)
    return [{ restores, folderOnly, matches: (path) => path.startsWith(folder) && glob(path.slice(folder.length)) }]
  })
}

/** The last rule that matches decides. */
export function isIgnored(rules: readonly IgnoreRule[], path: string, isFolder: boolean): boolean {
  const deciding = rules.findLast((rule) => (isFolder || !rule.folderOnly) && rule.matches(path))
  return deciding !== undefined && !deciding.restores
}
