import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Node, parseSync, type Program, Visitor } from 'oxc-parser'

/** A sentence that an error of the API can have. */
export interface ApiSentence {
  /** Undefined where the code is computed. */
  code: string | undefined
  /** With `{}` for each value that the code inserts. */
  text: string
}

const root = path.resolve(import.meta.dirname, '../../src')

/** Functions that make the message of an error from a part of it: the index of the part, and what precedes it. */
const makers: Record<string, { argument: number; start: string }> = {
  assertField: { argument: 2, start: '{} ' },
  wrong: { argument: 1, start: '{} ' },
  invalid: { argument: 0, start: '{}: ' },
  invalidField: { argument: 1, start: '' },
}

/** Every sentence of `AppError` in the sources of the service whose text is written there, and of the rules in the contract. */
export function readApiSentences(): ApiSentence[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(file),
  )
  const found = files.flatMap((file) => readFile(file, readFileSync(path.join(root, file), 'utf8')))
  return found.filter(({ text }) => /[a-z]{3}/i.test(text))
}

function readFile(file: string, text: string): ApiSentence[] {
  const { program } = parseSync(file, text)
  const constants = readConstants(program)
  const found: ApiSentence[] = []
  const add = (code: string | undefined, part: Node | undefined, start = '') => {
    for (const written of part ? readTexts(part, constants) : []) found.push({ code, text: start + written })
  }
  new Visitor({
    NewExpression({ callee, arguments: [code, message] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'AppError') return
      add(code?.type === 'Literal' ? String(code.value) : undefined, message)
    },
    CallExpression({ callee, arguments: given }) {
      const maker = callee.type === 'Identifier' ? makers[callee.name] : undefined
      if (maker) add('invalid_request', given[maker.argument], maker.start)
    },
    Property({ key, value }) {
      const name = key.type === 'Identifier' ? key.name : undefined
      if (file === 'documents/ingestion/detect-format.ts' && name === 'reason')
        add('unsupported_file_type', value, 'file: ')
      if (file === 'chat/chat/visitor-error.ts' && name !== 'internal') add(undefined, value)
      const isRule = file.startsWith('contract/')
        ? name === 'error'
        : file.startsWith('chat/golden-questions/') && name === 'words'
      if (!isRule) return
      // As `sentence` of src/contract/validation.ts joins the field and the rule.
      for (const rule of readTexts(value, constants))
        found.push({
          code: 'invalid_request',
          text: /^(?:is|must|has|needs) /.test(rule) ? `{} ${rule}.` : `{}: ${rule}.`,
        })
    },
  }).visit(program)
  return found
}

type Constants = Map<string, string[]>

/** Constants of the file that are texts. */
function readConstants(program: Program): Constants {
  const constants: Constants = new Map()
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init) constants.set(id.name, readTexts(init, constants))
    },
  }).visit(program)
  return constants
}

/** The texts that an expression can have; empty where it is not written in this file. */
function readTexts(expression: Node, constants: Constants): string[] {
  switch (expression.type) {
    case 'Literal':
      return typeof expression.value === 'string' ? [expression.value] : []
    case 'Identifier':
      return constants.get(expression.name) ?? []
    case 'LogicalExpression':
      return [expression.left, expression.right].flatMap((part) => readTexts(part, constants))
    case 'ConditionalExpression':
      return [expression.consequent, expression.alternate].flatMap((part) => readTexts(part, constants))
    case 'TemplateLiteral':
      return expression.quasis.reduce<string[]>(
        (texts, { value }, index) => {
          const next = expression.expressions[index - 1]
          const written = next ? readTexts(next, constants) : ['']
          return texts.flatMap((text) =>
            (written.length === 0 ? ['{}'] : written).map((part) => text + part + value.cooked),
          )
        },
        [''],
      )
    case 'BinaryExpression': {
      if (expression.operator !== '+') return []
      const [left, right] = [expression.left, expression.right].map((part) => readTexts(part, constants))
      return left!.flatMap((start) => right!.map((end) => start + end))
    }
    default:
      return []
  }
}
