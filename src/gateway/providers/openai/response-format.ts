import { toOpenAiSchema } from '../../conversation/index.ts'
import type { ResponseFormat } from '../port.ts'
import { usableSchema } from '../structured-answer.ts'
import type { JsonObject } from '../wire-json.ts'

/** Names of formats: letters, digits, `_` and `-`, at most 64. */
export function formatName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'answer'
}

/** A schema beyond the subset of strict mode is sent without it: then it guides the model, and the gateway checks the answer. */
export function toResponseFormat(format: ResponseFormat): JsonObject {
  if (format.type === 'json_object') return { type: 'json_object' }
  const { schema, isStrict } = usableSchema(() => toOpenAiSchema(format.schema))
  return {
    type: 'json_schema',
    json_schema: {
      name: formatName(format.name),
      ...(format.description !== undefined && { description: format.description }),
      schema: format.strict ? schema : format.schema,
      ...(format.strict !== undefined && { strict: format.strict && isStrict }),
    },
  }
}
