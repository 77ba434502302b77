import { type Command, InvalidArgumentError } from 'commander'
import type { CliProcess } from './cli-process.ts'
import { type Context, createContext } from './context.ts'
import { UsageError } from './errors.ts'

/** Wraps an action of commander: the action receives the context, its options and its arguments. */
export function action<Arguments extends unknown[], Options>(
  cliProcess: CliProcess,
  work: (context: Context, options: Options, ...positional: Arguments) => Promise<void>,
) {
  return async (...given: unknown[]) => {
    const command = given.at(-1) as Command
    const options = given.at(-2) as Options
    await work(createContext(command, cliProcess), options, ...(given.slice(0, -2) as Arguments))
  }
}

/** Text with examples for `addHelpText('after', …)`. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
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
