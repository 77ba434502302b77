import { parseDocument } from 'yaml'
import { z } from 'zod'
import { readTextFile } from '../context.ts'
import { UsageError } from '../errors.ts'

/**
 * The parts of LiteLLM's configuration that the import reads. Unknown fields are kept, so that the report can name them.
 * Source: https://docs.litellm.ai/docs/proxy/config_settings and /docs/proxy/configs, read 2026-11.
 */

const object = z.record(z.string(), z.unknown())
const modelSchema = z.looseObject({
  model_name: z.string(),
  litellm_params: z.looseObject({ model: z.string() }),
  model_info: object.nullish(),
})
const configSchema = z.looseObject({
  model_list: z.array(modelSchema).nullish(),
  router_settings: object.nullish(),
  litellm_settings: object.nullish(),
  general_settings: object.nullish(),
  environment_variables: object.nullish(),
  credential_list: z
    .array(z.looseObject({ credential_name: z.string(), credential_values: object.nullish() }))
    .nullish(),
})

/** A team as `GET /team/list` of LiteLLM returns it; the names of the fields in `default_team_settings` are the same. */
const teamSchema = z.looseObject({
  team_id: z.string(),
  team_alias: z.string().nullish(),
  max_budget: z.number().nullish(),
  budget_duration: z.string().nullish(),
  rpm_limit: z.number().nullish(),
  tpm_limit: z.number().nullish(),
  max_parallel_requests: z.number().nullish(),
  models: z.array(z.string()).nullish(),
  blocked: z.boolean().nullish(),
})
const teamsSchema = z.union([
  z.array(teamSchema),
  z.looseObject({ teams: z.array(teamSchema) }).transform(({ teams }) => teams),
])

export type LitellmConfig = z.output<typeof configSchema>
export type LitellmModel = z.output<typeof modelSchema>
export type LitellmTeam = z.output<typeof teamSchema>

/** Throws UsageError if the file is not YAML of this form. */
export function readConfig(file: string): LitellmConfig {
  return check(configSchema, parseYaml(file, 'config.yaml'), file)
}

/** Reads the saved response of LiteLLM's `GET /team/list`. Throws UsageError if it is not one. */
export function readTeams(file: string): LitellmTeam[] {
  return check(teamsSchema, parseYaml(file, '--teams'), file)
}

/** The teams that the configuration itself names. */
export function teamsOfConfig(config: LitellmConfig): LitellmTeam[] {
  const found = z.array(teamSchema).safeParse(config.litellm_settings?.default_team_settings ?? [])
  return found.success ? found.data : []
}

/** JSON is YAML too. The parser's messages quote the file, which contains keys; only the line is reported. */
function parseYaml(file: string, option: string): unknown {
  const document = parseDocument(readTextFile(file, option), { prettyErrors: true })
  const [error] = document.errors
  if (!error) return document.toJS()
  const line = error.linePos?.[0].line
  throw new UsageError(`${file} is not valid YAML${line === undefined ? '' : ` (line ${line})`}.`)
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, file: string): z.output<Schema> {
  const read = schema.safeParse(value ?? {})
  if (read.success) return read.data
  const { path } = read.error.issues[0]!
  throw new UsageError(`${file} is not a file of LiteLLM: ${path.join('.') || 'the top level'} has another form.`)
}
