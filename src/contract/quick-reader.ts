import type { z } from 'zod'

/** What a part of a schema makes of a value. */
type Read = (value: unknown) => unknown

/** The schema refuses the value, or may do so. */
const refused = Symbol('refused')

/**
 * A reader with the result of `schema.parse`, in a fraction of its time: no issues, payloads and contexts are built for each field. It
 * returns undefined for what the schema must decide, above all values that are not valid: only the schema names the problem. Parts of a
 * schema that it does not know are read by the schema itself. A test compares both.
 */
export function quickReader<Schema extends z.ZodObject>(
  schema: Schema,
): (value: unknown) => z.output<Schema> | undefined {
  const read = compile(schema)
  return (value) => {
    const output = read(value)
    return output === refused ? undefined : (output as z.output<Schema>)
  }
}

function compile(schema: z.core.$ZodType): Read {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const read = compileType(def) ?? ((value) => readBySchema(schema as z.ZodType, value))
  return withChecks(read, def.checks, schema)
}

function readBySchema(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : refused
}

/** Without the checks; undefined: not known here. */
function compileType(def: z.core.$ZodTypes['_zod']['def']): Read | undefined {
  switch (def.type) {
    case 'unknown':
      return (value) => value
    case 'string':
      return 'format' in def || def.coerce ? undefined : (value) => (typeof value === 'string' ? value : refused)
    case 'number':
      return compileNumber(def)
    case 'boolean':
      return def.coerce ? undefined : (value) => (typeof value === 'boolean' ? value : refused)
    case 'literal':
      return oneOf(def.values)
    case 'enum':
      return oneOf(Object.values(def.entries))
    case 'array':
      return compileArray(compile(def.element))
    case 'object':
      return compileObject(def)
    case 'record':
      return def.mode === 'loose' || def.partial
        ? undefined
        : compileRecord(compile(def.keyType), compile(def.valueType))
    case 'optional':
    case 'nullable':
      return compileAbsence(def.type === 'optional' ? undefined : null, compile(def.innerType))
    case 'pipe':
      return def.transform ? undefined : compilePipe(compile(def.in), def.out)
    case 'union':
      return def.inclusive === false && !('discriminator' in def) ? undefined : compileUnion(def)
    default:
      return undefined
  }
}

function compileNumber(def: z.core.$ZodNumberDef): Read | undefined {
  if (def.coerce) return undefined
  if (!('format' in def)) return (value) => (typeof value === 'number' && Number.isFinite(value) ? value : refused)
  return def.format === 'safeint' ? (value) => (Number.isSafeInteger(value) ? value : refused) : undefined
}

function oneOf(values: readonly unknown[]): Read {
  const known = new Set(values)
  return (value) => (known.has(value) ? value : refused)
}

function compileArray(readElement: Read): Read {
  return (value) => {
    if (!Array.isArray(value)) return refused
    const output: unknown[] = []
    for (let index = 0; index < value.length; index++) {
      const element = readElement(value[index])
      if (element === refused) return refused
      output.push(element)
    }
    return output
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function compileObject({ shape, catchall }: z.core.$ZodObjectDef): Read | undefined {
  const isLoose = catchall !== undefined
  if (isLoose && catchall._zod.def.type !== 'unknown') return undefined
  const fields = Object.entries(shape).map(([name, field]) => ({
    name,
    read: compile(field),
    isRequired: field._zod.optin === undefined,
  }))
  // A value that the schema itself would put in the place of an absent one.
  if (Object.values(shape).some(({ _zod: { optin } }) => optin === 'defaulted')) return undefined
  return (value) => {
    if (!isObject(value)) return refused
    const output: Record<string, unknown> = isLoose ? { ...value } : {}
    for (const { name, read, isRequired } of fields) {
      const member = value[name]
      if (member === undefined) {
        if (isRequired) return refused
        continue
      }
      const field = read(member)
      if (field === refused) return refused
      output[name] = field
    }
    return output
  }
}

function compileRecord(readKey: Read, readMember: Read): Read {
  return (value) => {
    if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return refused
    const output: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      if (name === '__proto__' || readKey(name) !== name) return refused
      const member = readMember(value[name])
      if (member === refused) return refused
      output[name] = member
    }
    return output
  }
}

function compileAbsence(absent: null | undefined, read: Read): Read {
  return (value) => (value === absent ? value : read(value))
}

function compilePipe(readIn: Read, out: z.core.$ZodType): Read | undefined {
  const { def } = (out as z.core.$ZodTypes)._zod
  if (def.type !== 'transform' || def.checks !== undefined) return undefined
  const { transform } = def
  return (value) => {
    const read = readIn(value)
    if (read === refused) return refused
    const payload = { value: read, issues: [] }
    const output = transform(read, payload)
    return payload.issues.length > 0 || output instanceof Promise ? refused : output
  }
}

function compileUnion(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): Read {
  const options = (def.options as readonly z.core.$ZodType[]).map((option) => ({ option, read: compile(option) }))
  if (!('discriminator' in def)) return firstOf(options.map(({ read }) => read))
  const { discriminator } = def
  const byValue = new Map<unknown, Read>()
  for (const { option, read } of options)
    for (const value of option._zod.propValues?.[discriminator] ?? []) byValue.set(value, read)
  return (value) => (isObject(value) ? (byValue.get(value[discriminator])?.(value) ?? refused) : refused)
}

function firstOf(reads: readonly Read[]): Read {
  return (value) => {
    for (const read of reads) {
      const output = read(value)
      if (output !== refused) return output
    }
    return refused
  }
}

/** What the schema checks after a value is read; the schema itself reads a value with a check that is not known here. */
function withChecks(read: Read, checks: z.core.$ZodTypeDef['checks'], schema: z.core.$ZodType): Read {
  if (checks === undefined || checks.length === 0) return read
  const holds = checks.map((check) => compileCheck(check))
  if (holds.includes(undefined)) return (value) => readBySchema(schema as z.ZodType, value)
  return (value) => {
    const output = read(value)
    if (output === refused) return refused
    for (const isValid of holds) if (!isValid!(output)) return refused
    return output
  }
}

/** False also where only the schema knows: it counts the characters of a text, which are at most its units. */
function compileCheck(check: z.core.$ZodCheck<never>): ((value: unknown) => boolean) | undefined {
  const { def } = (check as unknown as z.core.$ZodChecks)._zod
  switch (def.check) {
    case 'min_length':
      return def.minimum > 1 ? undefined : (value) => (value as string).length >= def.minimum
    case 'max_length':
      return (value) => (value as string).length <= def.maximum
    case 'greater_than':
      return (value) => (def.inclusive ? (value as number) >= Number(def.value) : (value as number) > Number(def.value))
    case 'less_than':
      return (value) => (def.inclusive ? (value as number) <= Number(def.value) : (value as number) < Number(def.value))
    case 'string_format':
      return compilePattern(def)
    default:
      // A function of the schema's author.
      return 'fn' in def
        ? (value) => Boolean((def as unknown as { fn: (value: unknown) => unknown }).fn(value))
        : undefined
  }
}

function compilePattern({ format, pattern }: z.core.$ZodCheckStringFormatDef) {
  if (format !== 'regex' || !pattern || pattern.global || pattern.sticky) return undefined
  return (value: unknown) => pattern.test(value as string)
}
