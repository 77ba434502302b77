import { type Command, CommanderError } from 'commander'
import { addBackupCommands } from './commands/backups.ts'
import { addChatCommand } from './commands/chat.ts'
import { addDeploymentCommands } from './commands/deployments.ts'
import { addDocumentCommands } from './commands/documents.ts'
import { addMigrateCommands } from './commands/migrate.ts'
import { addEmbedderCommands } from './commands/embedder.ts'
import { addGoldenCommands } from './commands/golden-questions.ts'
import { addImportCommands } from './commands/import.ts'
import { addModelCommands } from './commands/models.ts'
import { addOrganisationCommands } from './commands/organisations.ts'
import { addPushCommand } from './commands/push.ts'
import { addProviderCommands } from './commands/providers.ts'
import { addServiceCommands } from './commands/service.ts'
import { addSpaceCommands } from './commands/spaces.ts'
import { addUsageCommands } from './commands/usage.ts'
import type { CliProcess } from './cli-process.ts'
import { CliCommand } from './define.ts'
import { FailedError, UsageError } from './errors.ts'

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

/** Runs one command line (without node and script) and resolves to the exit code. */
export async function runCli(words: readonly string[], cliProcess: CliProcess): Promise<number> {
  const program = createProgram(cliProcess)
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCodes.done
  } catch (error) {
    // Commander has already printed its message; --help and --version end with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage
    printError(error, words.includes('--json'), cliProcess)
    return error instanceof UsageError ? exitCodes.wrongUsage : exitCodes.failed
  }
}

function createProgram(cliProcess: CliProcess): Command {
  const program = new CliCommand(cliProcess, 'portico')
    .description('The command line of Portico: organisations, keys, Spaces, documents, providers, models, usage.')
    .option('--url <url>', 'address of the service; default: PORTICO_URL, then http://127.0.0.1:8080')
    .option('--token <token>', 'operator token; default: PORTICO_OPERATOR_TOKEN. Prefer --token-file')
    .option('--token-file <file>', 'file with the operator token; default: PORTICO_OPERATOR_TOKEN_FILE')
    .option('--api-key <key>', "an organisation's API key; default: PORTICO_API_KEY. Prefer --api-key-file")
    .option('--api-key-file <file>', 'file with the API key; default: PORTICO_API_KEY_FILE')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExit codes: 0 done, 1 rejected or failed, 2 wrong usage.')
  for (const add of [
    addOrganisationCommands,
    addSpaceCommands,
    addDocumentCommands,
    addPushCommand,
    addChatCommand,
    addGoldenCommands,
    addProviderCommands,
    addModelCommands,
    addDeploymentCommands,
    addImportCommands,
    addUsageCommands,
    addServiceCommands,
    addBackupCommands,
    addMigrateCommands,
    addEmbedderCommands,
  ]) {
    add(program)
  }
  configure(program, cliProcess)
  return program
}

/** Settings of every command: an error throws instead of ending the process, and points to --help. */
function configure(command: Command, cliProcess: CliProcess): void {
  command
    .exitOverride()
    .configureOutput({ writeOut: cliProcess.writeOut, writeErr: cliProcess.writeError })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(`(${fullName(command)} --help shows the usage)`)
  for (const child of command.commands) configure(child, cliProcess)
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

function printError(error: unknown, json: boolean, { writeError }: CliProcess): void {
  const message = error instanceof Error ? error.message : String(error)
  const details = error instanceof FailedError ? error.details : {}
  if (json) return writeError(`${JSON.stringify({ error: { message, ...details } })}\n`)
  const known = error instanceof FailedError || error instanceof UsageError
  writeError(`portico: ${message}\n`)
  if (details.requestId && (details.status ?? 0) >= 500)
    writeError(`Request id for the service's log: ${details.requestId}\n`)
  if (!known && error instanceof Error && error.stack) writeError(`${error.stack}\n`)
}
