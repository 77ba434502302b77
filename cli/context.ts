import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type ApiClient, createApiClient } from './api-client.ts'
import type { CliProcess } from './cli-process.ts'
import { UsageError } from './errors.ts'
import { type Output, createOutput } from './output.ts'

/** What each command receives. */
export interface Context {
  output: Output
  process: CliProcess
  /** A client with the operator token; throws UsageError if none is set. */
  operator(): ApiClient
  /** A client with an organisation's API key; throws UsageError if none is set. */
  organisation(): ApiClient
  /** A client with either credential, for requests that both may send. Flags win over the environment, a key over the token. */
  either(): { kind: 'operator' | 'organisation'; client: ApiClient }
}

interface GlobalOptions {
  url?: string
  token?: string
  tokenFile?: string
  apiKey?: string
  apiKeyFile?: string
  json?: boolean
}

const defaultUrl = 'http://127.0.0.1:8080'

/** Settings come from flags, then from the environment. */
export function createContext(command: Command, cliProcess: CliProcess): Context {
  const options: GlobalOptions = command.optsWithGlobals()
  const { environment } = cliProcess
  const url = checkUrl(options.url ?? environment.PORTICO_URL ?? defaultUrl)
  const client = (credential: string, kind: 'operator' | 'organisation') =>
    createApiClient({ url, credential, kind, signal: cliProcess.signal })

  const context: Context = {
    output: createOutput(cliProcess, options.json ?? false),
    process: cliProcess,
    operator() {
      const token =
        options.token ??
        readSecretFile(options.tokenFile, '--token-file') ??
        environment.PORTICO_OPERATOR_TOKEN ??
        readSecretFile(environment.PORTICO_OPERATOR_TOKEN_FILE, 'PORTICO_OPERATOR_TOKEN_FILE')
      if (token) return client(token.trim(), 'operator')
      throw new UsageError(
        'This command needs the operator token. Set PORTICO_OPERATOR_TOKEN, or give --token-file FILE. The service printed the token at its first start. If it is lost, start the service with a PORTICO_OPERATOR_TOKEN of your choice.',
      )
    },
    organisation() {
      const key =
        options.apiKey ??
        readSecretFile(options.apiKeyFile, '--api-key-file') ??
        environment.PORTICO_API_KEY ??
        readSecretFile(environment.PORTICO_API_KEY_FILE, 'PORTICO_API_KEY_FILE')
      if (key) return client(key.trim(), 'organisation')
      throw new UsageError(
        "This command needs an organisation's API key. Set PORTICO_API_KEY, or give --api-key-file FILE. The team administrator has the key; it cannot be shown again.",
      )
    },
    either() {
      const named = { key: options.apiKey ?? options.apiKeyFile, token: options.token ?? options.tokenFile }
      const set = {
        key: environment.PORTICO_API_KEY ?? environment.PORTICO_API_KEY_FILE,
        token: environment.PORTICO_OPERATOR_TOKEN ?? environment.PORTICO_OPERATOR_TOKEN_FILE,
      }
      const isOperator = named.key === undefined && (named.token !== undefined || (!set.key && Boolean(set.token)))
      return isOperator
        ? { kind: 'operator', client: context.operator() }
        : { kind: 'organisation', client: context.organisation() }
    },
  }
  return context
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(
      `${text} is not an http or https address. Set PORTICO_URL or --url, for example ${defaultUrl}.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function readSecretFile(file: string | undefined, name: string): string | undefined {
  return file === undefined ? undefined : readTextFile(file, name)
}

/** The text of a file that an option names. */
export function readTextFile(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'}).`)
  }
}
