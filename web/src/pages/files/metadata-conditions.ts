import type { FieldCondition, FilterRange, FilterValue, MetadataFilter } from '@contract/metadata-filter.ts'

const operators = { '>=': 'gte', '<=': 'lte', '>': 'gt', '<': 'lt' } as const
const signs = { gte: '≥', lte: '≤', gt: '>', lt: '<' } as const

/** Reads `customer = acme` and `year >= 2024`; undefined where the text is neither. */
export function readCondition(text: string): { field: string; condition: FieldCondition } | undefined {
  const [, name = '', operator = '', value = ''] = /^([^=<>:]+)(>=|<=|[=<>:])(.*)$/s.exec(text.trim()) ?? []
  const field = name.trim()
  const values = meaningsOf(value.trim())
  if (value.trim() === '') return undefined
  const condition =
    operator in operators
      ? {
          [operators[operator as keyof typeof operators]]:
            values.find((one) => typeof one === 'number') ?? value.trim(),
        }
      : values
  return isField(field) ? { field, condition } : undefined
}

/** What a chip shows. */
export function describeCondition(field: string, condition: FieldCondition): string {
  if (Array.isArray(condition)) return `${field} = ${String(condition[0])}`
  if (typeof condition !== 'object') return `${field} = ${String(condition)}`
  const bounds = Object.entries(condition) as [keyof FilterRange, FilterValue][]
  return bounds.map(([bound, value]) => `${field} ${signs[bound]} ${String(value)}`).join(', ')
}

/** A filter from the address of a page, of which a person may have changed any part; only fields that a chip can show. */
export function readAddressFilter(value: unknown): MetadataFilter | undefined {
  if (!isObject(value)) return undefined
  const fields = Object.entries(value)
  const isValid = fields.length > 0 && fields.every(([name, condition]) => isField(name) && isCondition(condition))
  return isValid ? (value as MetadataFilter) : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** As the server checks it. */
const isField = (name: string) =>
  name !== '' && name.length <= 200 && !name.startsWith('$') && !['and', 'or', 'not'].includes(name)

const isValue = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

function isCondition(condition: unknown): boolean {
  if (Array.isArray(condition)) return condition.length > 0 && condition.every(isValue)
  if (!isObject(condition)) return isValue(condition)
  const bounds = Object.entries(condition)
  return bounds.length > 0 && bounds.every(([name, value]) => name in signs && isValue(value))
}

/** A number or a boolean may be stored as such or as text. */
function meaningsOf(text: string): FilterValue[] {
  if (text === 'true' || text === 'false') return [text, text === 'true']
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) ? [text, Number(text)] : [text]
}
