import type { ProviderRequest, ToolDefinition } from '../../../src/gateway/providers/port.ts'
import { asObject, asString, type JsonObject } from '../../../src/gateway/providers/wire-json.ts'

/** Collects the paths of fields that a call cannot express. */
export interface NotOffered {
  add(path: string): void
  /** Every member of `rest`, which the reader did not use. */
  addAll(rest: JsonObject, prefix?: string): void
  list(): string[]
}

export function createNotOffered(): NotOffered {
  const paths = new Set<string>()
  return {
    add: (path) => void paths.add(path),
    addAll(rest, prefix = '') {
      for (const [name, value] of Object.entries(rest)) if (value !== undefined) paths.add(`${prefix}${name}`)
    },
    list: () => [...paths].sort(),
  }
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined
}

/** A number of the host's scale on ours, without rounding errors of the division. */
export function unscaled(value: unknown, factor: number): number | undefined {
  const wire = numberOf(value)
  return wire === undefined ? undefined : Number((wire / factor).toPrecision(12))
}

export function metadataOf(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, String(member)]))
}

export function toolOf(tool: JsonObject, schema: unknown): ToolDefinition {
  return { name: asString(tool.name), description: asString(tool.description), parameters: asObject(schema) }
}

/** Omits undefined fields, as the port's types require. */
export function defined(request: {
  [Field in keyof ProviderRequest]: ProviderRequest[Field] | undefined
}): ProviderRequest {
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined),
  ) as unknown as ProviderRequest
}
