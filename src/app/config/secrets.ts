import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { ConfigFile } from './config-schema.ts'
import { headerValueRule, isHeaderValue, isKey, keyRule } from '../../contract/secret-text.ts'
import { ConfigError } from './config-error.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Secrets {
  /** Seals secrets at rest; undefined: a generated file in the data folder. */
  secretKey: string | undefined
  /** While the secret key is replaced: the other one. */
  secondSecretKey: string | undefined
  operatorToken: string | undefined
  databaseUrl: string | undefined
  databaseDirectUrl: string | undefined
  databaseReplicaUrl: string | undefined
  corpusDatabaseUrl: string | undefined
  corpusDatabaseDirectUrl: string | undefined
  openaiApiKey: string | undefined
  s3AccessKeyId: string | undefined
  s3SecretAccessKey: string | undefined
  /** Client secret of single sign-on. */
  ssoClientSecret: string | undefined
  /** Of the mail server. */
  mailPassword: string | undefined
  /** For the collector of telemetry, by name. */
  otlpHeaders: Readonly<Record<string, string>>
  /** By provider id, from `apiKey`, `apiKeyEnv` or `apiKeyFile` of the file's providers. */
  providerKeys: ReadonlyMap<string, string>
  /** By provider id, from `credentialsEnv` or `credentialsFile`: AWS keys or a Google service account. */
  providerCredentials: ReadonlyMap<string, string>
}

/** Each may also come from a file named by the same variable with `_FILE` (Docker and Kubernetes secrets). */
export const secretVariables = {
  secretKey: 'PORTICO_SECRET_KEY',
  secondSecretKey: 'PORTICO_SECOND_SECRET_KEY',
  operatorToken: 'PORTICO_OPERATOR_TOKEN',
  databaseUrl: 'DATABASE_URL',
  databaseDirectUrl: 'DATABASE_DIRECT_URL',
  databaseReplicaUrl: 'DATABASE_REPLICA_URL',
  corpusDatabaseUrl: 'PORTICO_CORPUS_DATABASE_URL',
  corpusDatabaseDirectUrl: 'PORTICO_CORPUS_DATABASE_DIRECT_URL',
  openaiApiKey: 'OPENAI_API_KEY',
  s3AccessKeyId: 'PORTICO_S3_ACCESS_KEY_ID',
  s3SecretAccessKey: 'PORTICO_S3_SECRET_ACCESS_KEY',
  ssoClientSecret: 'PORTICO_SSO_CLIENT_SECRET',
  mailPassword: 'PORTICO_MAIL_PASSWORD',
  otlpHeaders: 'OTEL_EXPORTER_OTLP_HEADERS',
} as const

/** Shorter tokens could be guessed. `openssl rand -hex 24` makes 48 characters. */
const minimumOperatorTokenLength = 24

export function readSecrets(environment: Environment, settings: ConfigFile, workingFolder: string): Secrets {
  const named = Object.fromEntries(
    Object.entries(secretVariables).map(([name, variable]) => [name, readSecret(environment, variable, workingFolder)]),
  ) as Record<keyof typeof secretVariables, string | undefined>
  const otlpHeaders = readOtlpHeaders(named.otlpHeaders)
  assertSecretKey('PORTICO_SECRET_KEY', named.secretKey)
  assertSecretKey('PORTICO_SECOND_SECRET_KEY', named.secondSecretKey)
  if (named.secondSecretKey !== undefined && named.secondSecretKey === named.secretKey)
    throw new ConfigError('PORTICO_SECOND_SECRET_KEY must be another key than PORTICO_SECRET_KEY, or not set.')
  assertOperatorToken(named.operatorToken)
  assertKey('OPENAI_API_KEY', named.openaiApiKey)
  for (const name of databaseAddresses) assertDatabaseAddress(secretVariables[name], named[name])
  const providerKeys = new Map<string, string>()
  const providerCredentials = new Map<string, string>()
  for (const [index, provider] of settings.providers.entries()) {
    const read = (name: 'apiKey' | 'credentials') =>
      readNamedSecret(environment, workingFolder, `providers.${index}.${name}`, {
        file: provider[`${name}File`],
        variable: provider[`${name}Env`],
      })
    const key = read('apiKey') ?? provider.apiKey?.trim()
    assertKey(`providers.${index}.apiKey`, key)
    if (key !== undefined) providerKeys.set(provider.id, key)
    const credentials = read('credentials')
    // A service account is JSON with line breaks; the AWS form goes into headers.
    if (!credentials?.startsWith('{')) assertKey(`providers.${index}.credentials`, credentials)
    if (credentials !== undefined) providerCredentials.set(provider.id, credentials)
    for (const [name, value] of Object.entries(provider.headers ?? {})) {
      if (!isHeaderValue(value)) throw new ConfigError(`providers.${index}.headers.${name} ${headerValueRule}.`)
    }
  }
  return { ...named, otlpHeaders, providerKeys, providerCredentials }
}

/** `name=value,name=value` with values encoded as in URLs: the form of OpenTelemetry. Never quotes a value. */
function readOtlpHeaders(text: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const part of text === undefined ? [] : text.split(',')) {
    const [, name, encoded] = /^\s*([\w!#$%&'*+.^`|~-]{1,128})\s*=\s*(.*?)\s*$/.exec(part) ?? []
    if (name === undefined)
      throw new ConfigError('OTEL_EXPORTER_OTLP_HEADERS must be a list such as `name=value,name=value`.')
    const value = decode(encoded!)
    if (value === undefined || !isHeaderValue(value))
      throw new ConfigError(`OTEL_EXPORTER_OTLP_HEADERS: ${name} ${headerValueRule}, encoded as in a URL.`)
    headers[name.toLowerCase()] = value
  }
  return headers
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function assertSecretKey(variable: string, key: string | undefined) {
  if (key !== undefined && Buffer.byteLength(key) < 32)
    throw new ConfigError(`${variable} must have at least 32 bytes; \`openssl rand -base64 32\` makes one.`)
}

function assertOperatorToken(token: string | undefined) {
  if (token === undefined) return
  if (token.length < minimumOperatorTokenLength) {
    throw new ConfigError(
      `PORTICO_OPERATOR_TOKEN must have at least ${minimumOperatorTokenLength} characters; \`openssl rand -hex 24\` makes one.`,
    )
  }
  assertKey('PORTICO_OPERATOR_TOKEN', token)
}

const databaseAddresses = [
  'databaseUrl',
  'databaseDirectUrl',
  'databaseReplicaUrl',
  'corpusDatabaseUrl',
  'corpusDatabaseDirectUrl',
] as const

/** The client of PostgreSQL would read any other text as the name of a database on an unknown host. Never quotes the address, which has a password. */
function assertDatabaseAddress(variable: string, address: string | undefined) {
  // Sockets of this machine, in the two forms of the client.
  if (address === undefined || /^(?:\/|socket:)/.test(address)) return
  if (!/^postgres(?:ql)?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw new ConfigError(
      `${variable} must be an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters of the password percent-encoded.`,
    )
}

/** Never quotes the key. */
function assertKey(setting: string, key: string | undefined) {
  if (key !== undefined && !isKey(key)) throw new ConfigError(`${setting} ${keyRule}.`)
}

function readSecret(environment: Environment, variable: string, workingFolder: string): string | undefined {
  const direct = environment[variable]
  const file = environment[`${variable}_FILE`]
  if (direct && file) throw new ConfigError(`${variable} and ${variable}_FILE are both set; keep one.`)
  if (file) return readSecretFile(file, `${variable}_FILE`, workingFolder)
  return direct?.trim() || undefined
}

/** A provider's secret, from the environment variable or the file that the configuration names. */
function readNamedSecret(
  environment: Environment,
  workingFolder: string,
  setting: string,
  { file, variable }: { file: string | undefined; variable: string | undefined },
): string | undefined {
  if (file !== undefined && variable !== undefined)
    throw new ConfigError(`${setting}Env and ${setting}File are both set; keep one.`)
  if (file !== undefined) return readSecretFile(file, `${setting}File`, workingFolder)
  if (variable === undefined) return undefined
  const value = environment[variable]?.trim()
  if (!value) throw new ConfigError(`${setting}Env: the environment variable ${variable} is not set.`)
  return value
}

function readSecretFile(file: string, setting: string, workingFolder: string): string {
  try {
    const text = readFileSync(path.resolve(workingFolder, file), 'utf8').trim()
    if (text === '') throw new Error('it is empty')
    return text
  } catch (error) {
    throw new ConfigError(`${setting}: cannot read ${file}: ${(error as Error).message}`)
  }
}
