import pg from 'pg'
import { DatabaseError } from './database-error.ts'
import type { SqlValue } from './port.ts'

/** Conversion of values. Both engines use PostgreSQL's protocol, so one table of types is enough. */

type Parse = (text: string) => unknown

const parseTimestamp = pg.types.getTypeParser(1184) as Parse
// text[]; the driver's table of oids has no names for arrays.
const parseTextArray = pg.types.getTypeParser(1009 as typeof pg.types.builtins.TEXT) as Parse
const asText: Parse = (text) => text

// Keys are the oids of pg_type.dat, which do not change.
const scalarParsers: Record<number, Parse> = {
  16: (text) => text === 't', // bool
  17: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')), // bytea, always \x…
  20: BigInt, // int8
  21: Number, // int2
  23: Number, // int4
  26: Number, // oid
  700: Number, // float4
  701: Number, // float8
  114: (text) => JSON.parse(text) as unknown, // json
  3802: (text) => JSON.parse(text) as unknown, // jsonb
  1184: parseTimestamp, // timestamptz
}

const elementOfArray: Record<number, number> = {
  1000: 16,
  1001: 17,
  1016: 20,
  1005: 21,
  1007: 23,
  1028: 26,
  1021: 700,
  1022: 701,
  199: 114,
  3807: 3802,
  1185: 1184,
  // Arrays of texts: name, text, bpchar, varchar, numeric, uuid, date, timestamp.
  1003: 25,
  1009: 25,
  1014: 25,
  1015: 25,
  1231: 25,
  2951: 25,
  1182: 25,
  1115: 25,
}

function mapElements(values: unknown, parse: Parse): unknown {
  if (Array.isArray(values)) return values.map((value) => mapElements(value, parse))
  return typeof values === 'string' ? parse(values) : null
}

function parserOf(oid: number): Parse {
  const scalar = scalarParsers[oid]
  if (scalar) return scalar
  const element = elementOfArray[oid]
  if (element === undefined) return asText
  const parse = scalarParsers[element] ?? asText
  return (text) => mapElements(parseTextArray(text), parse)
}

const parsers = new Map<number, Parse>()

/** Type parsers, passed with each query, so that other uses of `pg` in this process are not affected. */
export const valueTypes = {
  getTypeParser(oid: number): Parse {
    let parser = parsers.get(oid)
    if (!parser) {
      parser = parserOf(oid)
      parsers.set(oid, parser)
    }
    return parser
  },
} as unknown as pg.CustomTypesConfig

/** A parameter for the driver. Dates become UTC text, because the driver's text has the process's time zone. */
export function toParameter(value: SqlValue, index: number): unknown {
  if (value === undefined) throw new DatabaseError('22023', `parameter $${index + 1} is undefined`)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((item: SqlValue) => (item instanceof Date ? item.toISOString() : item))
  return value
}
