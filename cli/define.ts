import { Command, InvalidArgumentError } from 'commander'
import type { CliProcess } from './cli-process.ts'
import { type Context, createContext } from './context.ts'
import { UsageError } from './errors.ts'

/** A command of the command line whose actions receive the context. */
export class CliCommand extends Command {
  readonly #process: CliProcess

  constructor(cliProcess: CliProcess, name?: string) {
    super(name)
    this.#process = cliProcess
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.#process, name)
  }

  /** Lines that the help shows after the options. */
  examples(...lines: string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
  }

  /** The work of the command: it receives the context, the options and the arguments. */
  run<Arguments extends unknown[], Options>(
    work: (context: Context, options: Options, ...positional: Arguments) => Promise<void>,
  ): this {
    return this.action(async (...given: unknown[]) => {
      const options = given.at(-2) as Options
      await work(createContext(this, this.#process), options, ...(given.slice(0, -2) as Arguments))
    })
  }
}

/** An option that may be given several times. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

export function parseWhole(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

export function parseNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}

/** The fields that are not undefined. */
export function definedFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The fields that are not undefined, as a request body. Throws UsageError if there are none. */
export function givenFields(fields: Record<string, unknown>, hint: string): Record<string, unknown> {
  const given = definedFields(fields)
  if (Object.keys(given).length === 0) throw new UsageError(`Nothing to change. ${hint}`)
  return given
}

/** Before a change that affects other people at once: prompts on a terminal, requires --yes elsewhere. */
export async function confirm(cliProcess: CliProcess, yes: boolean | undefined, what: string): Promise<void> {
  if (yes) return
  if (!cliProcess.isTerminal) return assertConfirmed(yes, what)
  cliProcess.writeError(`${what} Continue? [y/N] `)
  const answer = (await cliProcess.readLine()).trim().toLowerCase()
  if (answer !== 'y' && answer !== 'yes') throw new UsageError('Nothing was changed.')
}

/** Before a change that cannot be undone: throws UsageError without --yes. */
export function assertConfirmed(yes: boolean | undefined, what: string): void {
  if (!yes) throw new UsageError(`${what} Repeat the command with --yes to continue.`)
}
