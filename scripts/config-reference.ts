import { secretVariables } from '../src/app/config/secrets.ts'

/** The parts of a JSON schema that a setting can have. */
export interface SettingSchema {
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: unknown[]
  format?: string
  minimum?: number
  maximum?: number
  items?: SettingSchema
  properties?: Record<string, SettingSchema>
  required?: string[]
}

const introduction = `# Settings

For operators: every setting of \`portico.yaml\`, its environment variable, its values and its default.

This page is generated from \`src/app/config/config-schema.ts\` by \`npm run write:config-schema\`; do not edit it.
[Configuration](../operate/configuration.md) explains where settings come from and which ones you need first.
Editors use [portico.schema.json](portico.schema.json). \`[]\` stands for each item of a list.
`

const secretMeanings: Record<keyof typeof secretVariables, string> = {
  secretKey: 'Encrypts stored secrets: at least 32 bytes. Without it the data folder has a generated key.',
  secondSecretKey: 'The other key while the secret key is replaced.',
  operatorToken: 'A further operator token: at least 24 characters.',
  databaseUrl: 'PostgreSQL server, or its pooler, instead of the embedded databases.',
  databaseDirectUrl: 'The server itself, behind a pooler in transaction mode.',
  databaseReplicaUrl: 'A standby of the server, which reports and searches may read.',
  corpusDatabaseUrl: 'A separate server for the corpus database. Default: `DATABASE_URL`.',
  corpusDatabaseDirectUrl: 'The corpus server itself, behind a pooler in transaction mode.',
  openaiApiKey: 'Key of OpenAI: offers its models without further settings.',
  s3AccessKeyId: 'Access key of the object store.',
  s3SecretAccessKey: 'Secret key of the object store.',
  ssoClientSecret: 'Client secret of single sign-on.',
  mailPassword: 'Password of the mail server.',
  otlpHeaders: 'Headers for the collector of telemetry, as `name=value,name=value` with values encoded as in a URL.',
}

/** The text of docs/reference/configuration.md. `variables` has the path of a setting for each environment variable. */
export function renderConfigReference(schema: SettingSchema, variables: Readonly<Record<string, string>>): string {
  const variableOf = new Map(Object.entries(variables).map(([variable, setting]) => [setting, variable]))
  const groups = Object.entries(schema.properties ?? {}).map(([name, group]) => {
    const rows = describe(name, group, !schema.required?.includes(name)).map(
      ({ setting, values, value, meaning }) =>
        `| \`${setting}\` | ${code(variableOf.get(setting))} | ${values} | ${value} | ${meaning} |`,
    )
    return `## ${name}\n\n| Setting | Variable | Values | Default | Meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  const secrets = Object.entries(secretVariables).map(
    ([name, variable]) => `| \`${variable}\` | ${secretMeanings[name as keyof typeof secretVariables]} |`,
  )
  const secretTable = `## Secrets\n\nEach variable has a form with \`_FILE\`, which names a file with the value.\n\n| Variable | Meaning |\n|---|---|\n${secrets.join('\n')}\n`
  return [introduction, ...groups, secretTable].join('\n')
}

interface Row {
  setting: string
  values: string
  value: string
  meaning: string
}

function describe(setting: string, schema: SettingSchema, isOptional: boolean): Row[] {
  const { properties, required = [], items } = schema
  const children = (parent: string, of: SettingSchema) =>
    Object.entries(of.properties ?? {}).flatMap(([name, child]) =>
      describe(`${parent}.${name}`, child, !of.required?.includes(name)),
    )
  if (properties !== undefined) return children(setting, { properties, required })
  const row = {
    setting,
    values: describeValues(schema),
    value: schema.default !== undefined ? describeDefault(setting, schema.default) : isOptional ? '–' : 'required',
    meaning: describeMeaning(schema.description),
  }
  return [row, ...(items === undefined ? [] : children(`${setting}[]`, items))]
}

function describeValues({ type, enum: values, format, minimum, maximum, items }: SettingSchema): string {
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ')
  if (type === 'array') return items?.properties === undefined ? 'list' : 'list of objects'
  if (Array.isArray(type)) return 'decimal'
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (format === 'uri') return 'address'
  return type === 'boolean' ? '`true`, `false`' : type === 'number' ? 'number' : type === 'string' ? 'text' : 'object'
}

function describeDefault(setting: string, value: unknown): string {
  const text = `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
  const mebibytes = Number(value) / (1024 * 1024)
  return /Bytes/.test(setting) ? `${text} (${mebibytes} MiB)` : text
}

/** Names of pages become links. */
function describeMeaning(description = ''): string {
  return description.replaceAll('|', '\\|').replaceAll(/docs\/operate\/([\w-]+\.md)/g, '[$1](../operate/$1)')
}

function code(variable: string | undefined): string {
  return variable === undefined ? '–' : `\`${variable}\``
}
