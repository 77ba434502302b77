import { type CleanedWhere, createAdapterFactory } from 'better-auth/adapters'
import { lookupHash } from '../../platform/kernel/index.ts'
import type { AuthRows, Condition } from './auth-rows.store.ts'
import { type AccountSecrets, encryptedColumns, renewValue, type ReplaceValue } from './two-factor-secrets.ts'

/** The names of the sign-in library's models in the control database. */
const tableOf: Record<string, string> = {
  user: 'people',
  session: 'people_sessions',
  account: 'people_accounts',
  verification: 'people_verifications',
  twoFactor: 'people_two_factors',
}

type Fields = Record<string, unknown>
type Row = Parameters<AuthRows['insert']>[1]

/**
 * better-auth's storage over our database port. Session tokens are stored as SHA-256 only. The caller of `create` and of a lookup by
 * token has the token, so these return it; other reads return the hash, with which nobody can sign in.
 */
export function createAuthAdapter(rows: AuthRows, secrets: AccountSecrets, replaceValue: ReplaceValue) {
  const select: AuthRows['select'] = async (name, ...rest) => {
    const found = await rows.select(name, ...rest)
    if (secrets.secondSecret === undefined || name !== tableOf['twoFactor']) return found
    return Promise.all(found.map((row) => renewed(row)))
  }

  /** Stored before it is returned: the library replaces backup codes only where they are still those that it has read. */
  async function renewed(row: Row): Promise<Row> {
    const copy = { ...row }
    for (const column of encryptedColumns) {
      const value = row[column] as string
      const after = await renewValue(secrets, value).catch(() => undefined)
      if (after !== undefined && (await replaceValue(row['id'] as string, column, value, after))) copy[column] = after
    }
    return copy
  }

  return createAdapterFactory({
    config: {
      adapterId: 'portico',
      supportsJSON: false,
      supportsDates: true,
      supportsBooleans: true,
      supportsUUIDs: true,
    },
    adapter: () => ({
      async create({ model, data }) {
        const made = toFields(await rows.insert(table(model), toRow(model, data)))
        return { ...made, ...tokenIn(model, data) } as typeof data
      },
      async update({ model, where, update }) {
        const [row] = await rows.update(table(model), toConditions(model, where), toRow(model, update as Fields))
        return row ? ({ ...toFields(row), ...tokenOf(model, where) } as typeof update) : null
      },
      async updateMany({ model, where, update }) {
        return (await rows.update(table(model), toConditions(model, where), toRow(model, update))).length
      },
      async findOne<T>({ model, where }: { model: string; where: CleanedWhere[] }) {
        const [row] = await select(table(model), toConditions(model, where), { limit: 1 })
        return row ? ({ ...toFields(row), ...tokenOf(model, where) } as T) : null
      },
      async findMany<T>(query: FindMany) {
        const { model, where = [], limit, offset, sortBy } = query
        const found = await select(table(model), toConditions(model, where), {
          limit,
          ...(offset === undefined ? {} : { offset }),
          ...(sortBy ? { sortBy: { column: toColumn(model, sortBy.field), direction: sortBy.direction } } : {}),
        })
        return found.map((row) => toFields(row) as T)
      },
      async delete({ model, where }) {
        await rows.remove(table(model), toConditions(model, where))
      },
      deleteMany: ({ model, where }) => rows.remove(table(model), toConditions(model, where)),
      async consumeOne<T>({ model, where }: { model: string; where: CleanedWhere[] }) {
        const row = await rows.consume(table(model), toConditions(model, where))
        return row && (toFields(row) as T)
      },
      async incrementOne<T>({ model, where, increment, set = {} }: IncrementOne) {
        const added = Object.fromEntries(Object.entries(increment).map(([field, by]) => [toColumn(model, field), by]))
        const [row] = await rows.update(table(model), toConditions(model, where), toRow(model, set), added)
        return row ? (toFields(row) as T) : null
      },
      count: ({ model, where = [] }) => rows.count(table(model), toConditions(model, where)),
    }),
  })
}

interface FindMany {
  model: string
  where?: CleanedWhere[] | undefined
  limit: number
  offset?: number | undefined
  sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined
}

interface IncrementOne {
  model: string
  where: CleanedWhere[]
  increment: Record<string, number>
  set?: Fields | undefined
}

function table(model: string): string {
  const name = tableOf[model]
  if (name === undefined) throw new Error(`no table for ${model}`)
  return name
}

const isToken = (model: string, field: string) => model === 'session' && field === 'token'

function toColumn(model: string, field: string): string {
  if (field === 'userId') return 'person_id'
  if (isToken(model, field)) return 'token_hash'
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function toField(column: string): string {
  if (column === 'person_id') return 'userId'
  if (column === 'token_hash') return 'token'
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function toRow(model: string, fields: Fields): Row {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.map(([field, value]) => [
      toColumn(model, field),
      isToken(model, field) ? lookupHash(value as string) : value,
    ]),
  ) as Row
}

function toFields(row: Row): Fields {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [toField(column), value]))
}

function toConditions(model: string, where: CleanedWhere[]): Condition[] {
  return where.map(({ field, operator, value, connector, mode }) => ({
    column: toColumn(model, field),
    operator,
    value: !isToken(model, field)
      ? value
      : Array.isArray(value)
        ? value.map((token) => lookupHash(String(token)))
        : lookupHash(String(value)),
    connector,
    ignoreCase: mode === 'insensitive',
  }))
}

/** The token that the caller has given. */
function tokenIn(model: string, fields: Fields): Fields {
  return model === 'session' && 'token' in fields ? { token: fields['token'] } : {}
}

function tokenOf(model: string, where: CleanedWhere[]): Fields {
  const given = where.find(({ field, operator }) => isToken(model, field) && operator === 'eq')
  return given ? { token: given.value } : {}
}
