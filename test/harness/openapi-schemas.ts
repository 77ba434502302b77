import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { sharedDataFolder } from './shared-data.ts'

/** The errors of a value by the schema of this name. */
export type Validate = (name: string, value: unknown) => string[]

/** Validators of the compatible API's published description, undefined where the shared data is not there. */
export function loadCompatibleSchemas(): Validate | undefined {
  const folder = sharedDataFolder('openapi')
  if (folder === undefined) return undefined
  const document = JSON.parse(
    readFileSync(path.join(folder, 'openai-chat-models-embeddings.openapi.json'), 'utf8'),
  ) as object
  return createValidate(new Ajv({ strict: false, allErrors: true }), fromOpenApi30(document) as object)
}

/** The same of the whole description, which has the Responses API, in the words of OpenAPI 3.1. */
export function loadResponsesSchemas(): Validate | undefined {
  const folder = sharedDataFolder('openapi')
  if (folder === undefined) return undefined
  const document = JSON.parse(gunzipSync(readFileSync(path.join(folder, 'openapi.full.json.gz'))).toString()) as object
  return createValidate(new Ajv2020({ strict: false, discriminator: false }), document)
}

function createValidate(ajv: Ajv | Ajv2020, document: object): Validate {
  const addFormats = addFormatsModule as unknown as (ajv: Ajv | Ajv2020) => void
  addFormats(ajv)
  ajv.addFormat('unixtime', true)
  ajv.addSchema(document, 'openapi')
  const validators = new Map<string, ValidateFunction>()
  return (name, value) => {
    const validate = validators.get(name) ?? ajv.compile({ $ref: `openapi#/components/schemas/${name}` })
    validators.set(name, validate)
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
  }
}

/** OpenAPI 3.0's `nullable` as JSON Schema. */
function fromOpenApi30(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(fromOpenApi30)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, fromOpenApi30(value)]),
  ) as Record<string, unknown>
  if (nullable !== true) return rest
  return { anyOf: [rest, { type: 'null' }] }
}
