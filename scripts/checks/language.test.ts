import { describe, expect, test } from 'vitest'
import { findTerms } from './language.ts'

const find = (text: string, path = 'src/chat/spaces/example.ts') =>
  findTerms([{ path, text }]).map(({ line, found }) => `${line}: ${found}`)

describe('a replaced term is found', () => {
  test('in comments, also across the lines of one', () => {
    expect(find('/**\n * The rest is looked\n * after by a job.\n */')).toEqual(['2: looked after'])
    expect(find('// It is looked\n// after here.')).toEqual(['1: looked after'])
    expect(find('// a word-search and a word\n  // search')).toEqual(['1: word-search', '1: word search'])
  })

  test('in messages of production code', () => {
    expect(find("log.warn({}, 'the ledger could not be looked after')")).toEqual(['1: looked after'])
    expect(find('throw new Error(`${name} tells nothing`)')).toEqual(['1: tells'])
  })

  test('in test titles, errors and printed lines of tests and scripts', () => {
    const text = "describe.each(['a truth'])('the %s and\\nthe books agree', () => {})\nconsole.log('it tells')"
    expect(find(text, 'src/chat/spaces/example.test.ts')).toEqual(['1: books', '2: tells'])
    expect(find("throw new Error('a truth')", 'scripts/example.ts')).toEqual(['1: truth'])
  })

  test('after a comment with one backtick or an address, across code', () => {
    const code =
      "// one ` backtick, see https://example.com/a\nconst a = 1\ntest('it tells all', () => {})\n// a ` again"
    expect(find(code)).toEqual(['3: tells'])
  })

  test('in declared names and in the names of files', () => {
    expect(find('function tellAll() {}\nconst { wordScore } = found\ninterface A { adopt(): void }')).toEqual([
      '1: tellAll',
      '2: wordScore',
      '3: adopt',
    ])
    expect(find('', 'src/gateway/providers/secret-cutter.ts')).toEqual(['1: src/gateway/providers/secret-cutter.ts'])
  })

  test('in documents and shell scripts', () => {
    expect(find('# Title\n\nThe database stays\nthe truth.', 'docs/example.md')).toEqual(['4: truth'])
    expect(find('# It tells.\necho "it tells"\ntell=1', 'scripts/example.sh')).toEqual(['1: tells', '2: tells'])
  })
})

describe('a replaced term is not found', () => {
  test('in code, fences, inline code and addresses', () => {
    expect(find('emitter.tell(settled) // calls `tell()`, see https://example.com/tell')).toEqual([])
    expect(find('```\nit tells\n```\n`tell` and [a page](tell.md)', 'docs/example.md')).toEqual([])
  })

  test('in SQL and in single words that are values', () => {
    expect(find("query(`select 1 where note = 'it tells'`)\nconst kind = 'told'")).toEqual([])
  })

  test('in texts that tests and benchmarks use as data', () => {
    expect(find("ask('Say what the book tells')", 'bench/example.ts')).toEqual([])
    expect(find("test.each(['it tells all'])('reads %s', () => {})", 'src/a.test.ts')).toEqual([])
  })

  test('where the word has its plain sense', () => {
    const plain = 'Two words, the source of truth, MB resident memory, a message says so, AI stands for it, look up.'
    expect(find(`// ${plain}`)).toEqual([])
    expect(find('const lookUp = 1; const generation = 2; const allSettled = 3')).toEqual([])
  })

  test('where it belongs to a room: only billing settles, accounts and generations are words of other rooms', () => {
    expect(find('function settleHold() {}', 'src/gateway/billing/a.ts')).toEqual([])
    expect(find('function settleHold() {}', 'src/chat/spaces/a.ts')).toEqual(['1: settleHold'])
    expect(find('// An account.', 'src/gateway/billing/a.ts')).toEqual(['1: account'])
    expect(find('// An account.', 'src/gateway/providers/a.ts')).toEqual([])
    expect(find('// A generation.', 'src/documents/retrieval/a.ts')).toEqual(['1: generation'])
  })
})
