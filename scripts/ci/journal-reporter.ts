import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import type { JournalLine } from './journal.ts'

/** Writes the journal of a run to the file that PORTICO_TEST_JOURNAL names. For vitest's option `--reporter`. */
export default class JournalReporter implements Reporter {
  readonly #file = process.env['PORTICO_TEST_JOURNAL']

  onTestRunStart: NonNullable<Reporter['onTestRunStart']> = (specifications) => {
    this.#write({ kind: 'run', files: specifications.map(nameOf) })
  }

  // Not its start, which comes after its imports: an import can hang too.
  onTestModuleQueued: NonNullable<Reporter['onTestModuleQueued']> = (module) => {
    this.#write({ kind: 'file', file: nameOf(module) })
  }

  onTestModuleEnd: NonNullable<Reporter['onTestModuleEnd']> = (module) => {
    this.#write({ kind: 'result', file: nameOf(module), ...resultOf(module) })
  }

  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (_modules, errors) => {
    this.#write({ kind: 'end', errorsOutsideTests: errors.length })
  }

  #write(line: JournalLine): void {
    if (this.#file === undefined) throw new Error('PORTICO_TEST_JOURNAL names no file')
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}

/** With its project, because one run can have a file on both engines. */
function nameOf({ moduleId, project }: Pick<TestModule, 'moduleId' | 'project'>): string {
  return `${project.name && `${project.name}: `}${path.relative(process.cwd(), moduleId)}`
}

/** Characters of an error's message that the summary shows. */
const reasonCharacters = 200

function reasonOf(test: TestCase): string {
  const [error] = test.result().errors ?? []
  const message = stripVTControlCharacters(error?.message ?? 'without an error')
  return message.replaceAll(/\s+/g, ' ').slice(0, reasonCharacters)
}

function resultOf(module: TestModule) {
  const tests = [...module.children.allTests()]
  const inState = (state: 'passed' | 'failed' | 'skipped') => tests.filter((test) => test.result().state === state)
  return {
    milliseconds: Math.round(module.diagnostic().duration),
    passed: inState('passed').length,
    failed: inState('failed').map((test) => ({ title: test.fullName, reason: reasonOf(test) })),
    skipped: inState('skipped').length,
    isSound: module.state() !== 'failed',
  }
}
