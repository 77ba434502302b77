import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import { sharedDataFolder } from './shared-data.ts'

/** Validators of the compatible API's published description, undefined where the shared data is not there. */
export function loadCompatibleSchemas(): ((name: string, value: unknown) => string[]) | undefined {
  const folder = sharedDataFolder('openapi')
  if (folder === undefined) return undefined
  const document = JSON.parse(
    readFileSync(path.join(folder, 'openai-chat-models-embeddings.openapi.json'), 'utf8'),
  ) as object
  const ajv = new Ajv({ strict: false, allErrors: true })
  const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void
  addFormats(ajv)
  ajv.addFormat('unixtime', true)
  ajv.addSchema(fromOpenApi30(document) as object, 'openapi')
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
