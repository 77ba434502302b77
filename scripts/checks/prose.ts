import { type Expression, parseSync, type Program, type Super, Visitor } from 'oxc-parser'
import { stringsAreData } from './language-terms.ts'
import type { SourceFile } from './source-files.ts'

/** A name that a module declares, at its position in the text. */
export interface DeclaredName {
  name: string
  position: number
}

/** What a person reads in a file. */
export interface Prose {
  /**
   * As long as the file's text, so that positions are equal: prose as it is, everything else as `codeMark`. Line breaks and the
   * decoration of a comment are white space, so that a pattern finds a phrase across lines.
   */
  text: string
  names: DeclaredName[]
}

/** Stands for a character that is not prose; no pattern matches it. */
export const codeMark = '\u0000'

/** The prose of a file by its kind; null for a kind that has none. */
export function readProse(file: SourceFile): Prose | null {
  const shown = readVisible(file)
  if (shown === null) return null
  const text = hideCode(file.path.endsWith('.md') ? hideFences(shown) : shown)
  return { text, names: isTypeScript(file) ? readNames(parseSync(file.path, file.text).program) : [] }
}

/** Like `Prose.text`, with the code that prose quotes; null for a kind of file that has no prose. */
export function readVisible(file: SourceFile, { messages = true } = {}): string | null {
  if (isTypeScript(file)) return showTypeScript(file, messages)
  if (file.path.endsWith('.md')) return file.text
  return /\.sh$|^bin\/|^\.ci\//.test(file.path) ? showShell(file) : null
}

function isTypeScript({ path }: SourceFile): boolean {
  return /\.tsx?$/.test(path)
}

function showTypeScript({ path, text }: SourceFile, messages: boolean): string {
  const { program, comments } = parseSync(path, text)
  const shown = Array<string>(text.length).fill(codeMark)
  const reveal = (start: number, end: number, part: string) => {
    for (let at = start; at < end; at++) shown[at] = part[at - start]!
  }
  for (const { start, end } of comments) reveal(start, end, hideDecoration(text.slice(start, end)))
  for (const { start, end } of messages ? readStrings(program, path, text) : [])
    reveal(start, end, text.slice(start, end))
  // Line comments below each other are one passage: what separates them is white space.
  for (const [index, { end }] of comments.entries()) {
    const next = comments[index + 1]?.start ?? end
    const gap = text.slice(end, next)
    if (gap.trim() === '') reveal(end, next, gap)
  }
  return shown.join('')
}

interface Range {
  start: number
  end: number
}

/**
 * The string literals that are messages: every string with white space in it that is not SQL. Where strings are also data, only
 * titles, errors and printed lines.
 */
function readStrings(program: Program, path: string, text: string): Range[] {
  const holdsData = stringsAreData.test(path)
  const all: Range[] = []
  const messages: Range[] = []
  new Visitor({
    Literal: (node) => void (typeof node.value === 'string' && all.push(node)),
    TemplateLiteral: (node) => void (isSql(text.slice(node.start + 1)) || all.push(...node.quasis)),
    CallExpression: ({ callee, arguments: given }) => {
      if (isTitled(callee)) messages.push(...given.slice(0, 1))
      else if (isNamed(callee, 'expect')) messages.push(...given.slice(1))
      else if (callee.type === 'MemberExpression' && isNamed(callee.object, 'console')) messages.push(...given)
    },
    NewExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.callee.name.endsWith('Error')) messages.push(...node.arguments)
    },
  }).visit(program)
  const isInside = (inner: Range) => messages.some(({ start, end }) => inner.start >= start && inner.end <= end)
  return all.filter((range) => {
    const value = text.slice(range.start, range.end)
    return /\S\s+\S/.test(value) && !isSql(value.replace(/^['"`]/, '')) && (!holdsData || isInside(range))
  })
}

function isNamed(node: Expression | Super, ...names: string[]): boolean {
  return node.type === 'Identifier' && names.includes(node.name)
}

/** `test`, `test.skip`, and what `test.each(rows)` returns: the first argument is a title. */
function isTitled(callee: Expression | Super): boolean {
  if (isNamed(callee, 'it', 'test', 'describe')) return true
  if (callee.type === 'CallExpression')
    return callee.callee.type === 'MemberExpression' && isTitled(callee.callee.object)
  return callee.type === 'MemberExpression' && !isEach(callee) && isTitled(callee.object)
}

function isEach({ property }: { property: { type: string; name?: unknown } }): boolean {
  return property.name === 'each' || property.name === 'for'
}

function isSql(value: string): boolean {
  return /^\s*(?:select|insert|update|delete|with|create|alter|drop|begin|lock|set|truncate|vacuum)\s/.test(value)
}

/** The names that a module declares: variables, parameters, functions, types and their members. */
function readNames(program: Program): DeclaredName[] {
  const names: DeclaredName[] = []
  const add = (node: { type: string; start: number } | null | undefined) => {
    if (node?.type === 'Identifier' && 'name' in node) names.push({ name: String(node.name), position: node.start })
  }
  const addKey = (node: { key: { type: string; start: number }; computed: boolean }) =>
    void (node.computed || add(node.key))
  const addFunction = (node: {
    id?: { type: string; start: number } | null
    params: { type: string; start: number }[]
  }) => {
    add(node.id)
    for (const parameter of node.params) add(parameter)
  }
  new Visitor({
    VariableDeclarator: (node) => add(node.id),
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    TSFunctionType: addFunction,
    ClassDeclaration: (node) => add(node.id),
    MethodDefinition: addKey,
    PropertyDefinition: addKey,
    // In a pattern, `{ name }` and `{ key: name }` declare the value; in a literal, `name: value` declares the key.
    ObjectPattern: (node) => {
      for (const property of node.properties) if (property.type === 'Property') add(property.value)
    },
    ObjectExpression: (node) => {
      for (const property of node.properties) if (property.type === 'Property' && !property.shorthand) addKey(property)
    },
    TSPropertySignature: addKey,
    TSMethodSignature: (node) => {
      addKey(node)
      for (const parameter of node.params) add(parameter)
    },
    TSInterfaceDeclaration: (node) => add(node.id),
    TSTypeAliasDeclaration: (node) => add(node.id),
  }).visit(program)
  return names
}

/** Comments and double-quoted messages of a shell script. */
function showShell({ text }: SourceFile): string {
  return text.replaceAll(/(^|\s)(#[^\n]*)|"(?:\\.|[^"\\])*"|[^\s"#]/g, (match, _space, comment) =>
    comment || (match.startsWith('"') && /\S\s+\S/.test(match)) ? match.replaceAll('#', ' ') : hide(match),
  )
}

function hideDecoration(comment: string): string {
  return comment.replaceAll(/^\s*(?:\/\*+|\*+\/|\*+|\/\/)|\*+\/$/gm, (match) => match.replaceAll(/\S/g, ' '))
}

function hideFences(markdown: string): string {
  return markdown.replaceAll(/^( *)(```+|~~~+)[\s\S]*?^\1\2 *$/gm, hide)
}

/** Inline code, targets of links and addresses: they name what exists elsewhere. */
function hideCode(prose: string): string {
  return hideAddresses(prose.replaceAll(/`[^`\n\0]+`|\]\([^)\s\0]*\)/g, hide))
}

export function hideAddresses(prose: string): string {
  return prose.replaceAll(/\bhttps?:\/\/[^\s)'"`\0]+/g, hide)
}

function hide(text: string): string {
  return text.replaceAll(/[^\n]/g, codeMark)
}
