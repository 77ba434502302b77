import { countRows, type OwnedDatabase, type SqlValue } from '../../platform/database/index.ts'
import { type NewAdminLogEntry, recordAdminChange } from '../operators/index.ts'

/** One comparison. `connector` OR: at least one of all comparisons with OR must hold, in addition to all with AND. */
export interface Condition {
  column: string
  operator: 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'not_in' | 'contains' | 'starts_with' | 'ends_with'
  value: SqlValue
  connector: 'AND' | 'OR'
  ignoreCase: boolean
}

type Row = Record<string, SqlValue>

const tables: Record<string, ReadonlySet<string>> = {
  people: new Set('id name email email_verified image two_factor_enabled is_operator created_at updated_at'.split(' ')),
  people_accounts: new Set(
    'id person_id provider_id account_id password access_token refresh_token id_token access_token_expires_at refresh_token_expires_at scope created_at updated_at'.split(
      ' ',
    ),
  ),
  people_sessions: new Set(
    'id person_id token_hash ip_address user_agent expires_at final_at created_at updated_at'.split(' '),
  ),
  people_verifications: new Set('id identifier value expires_at created_at updated_at'.split(' ')),
  people_two_factors: new Set(
    'id person_id secret backup_codes verified failed_verification_count locked_until'.split(' '),
  ),
}

/** The write of a request that makes its change, with the entry of the change. */
export interface RecordedWrite {
  readonly table: string
  readonly column: string
  readonly entry: NewAdminLogEntry
  /** Set when both are committed: a further write of the column is not recorded. */
  isRecorded: boolean
}

/**
 * Rows of the tables that the sign-in library reads and writes. Tables and columns are checked against a list, values are bound.
 * `findRecorded` returns the write that the running request makes; it is committed together with its entry in the admin log.
 */
export function createAuthRows(database: OwnedDatabase, findRecorded: () => RecordedWrite | undefined) {
  async function write(table: string, columns: Row, statement: string, values: SqlValue[]): Promise<Row[]> {
    const recorded = findRecorded()
    if (!recorded || recorded.isRecorded || recorded.table !== table || !(recorded.column in columns))
      return database.query<Row>(statement, values)
    const rows = await database.transaction(async (transaction) => {
      const changed = await transaction.query<Row>(statement, values)
      if (changed.length > 0) await recordAdminChange(transaction, recorded.entry)
      return changed
    })
    recorded.isRecorded = rows.length > 0
    return rows
  }

  return {
    async insert(table: string, row: Row): Promise<Row> {
      const columns = Object.keys(row)
      const values = new Values(table)
      const places = columns.map((column) => values.add(column, row[column]!))
      const statement = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')}) RETURNING *`
      return (await write(table, row, statement, values.list))[0]!
    },

    /** Changes all matching rows. `increment` adds to columns. */
    update(table: string, conditions: Condition[], set: Row, increment: Record<string, number> = {}): Promise<Row[]> {
      const values = new Values(table)
      const changes = Object.entries(set).map(([column, value]) => {
        const place = values.add(column, value)
        // A visit must not renew a session beyond its final time.
        const isRenewal = table === 'people_sessions' && column === 'expires_at'
        return `${column} = ${isRenewal ? `least(${place}::timestamptz, final_at)` : place}`
      })
      for (const [column, by] of Object.entries(increment))
        changes.push(`${column} = ${column} + ${values.add(column, by)}`)
      const where = values.where(conditions)
      const statement = `UPDATE ${table} SET ${changes.join(', ')} WHERE ${where} RETURNING *`
      return write(table, set, statement, values.list)
    },

    select(
      table: string,
      conditions: Condition[],
      page: { limit: number; offset?: number; sortBy?: { column: string; direction: 'asc' | 'desc' } },
    ): Promise<Row[]> {
      const values = new Values(table)
      const where = values.where(conditions)
      const { sortBy } = page
      const order = sortBy
        ? `ORDER BY ${values.column(sortBy.column)} ${sortBy.direction === 'desc' ? 'DESC' : 'ASC'}`
        : ''
      const bounds = [page.limit, page.offset ?? 0].map((bound) => Math.max(0, Math.trunc(bound)))
      const statement = `SELECT * FROM ${table} WHERE ${where} ${order} LIMIT ${bounds[0]} OFFSET ${bounds[1]}`
      return database.query<Row>(statement, values.list)
    },

    remove(table: string, conditions: Condition[]): Promise<number> {
      const values = new Values(table)
      const where = values.where(conditions)
      return database.execute(`DELETE FROM ${table} WHERE ${where}`, values.list)
    },

    /** Deletes at most one matching row and returns it; of concurrent calls one receives it. */
    async consume(table: string, conditions: Condition[]): Promise<Row | null> {
      const values = new Values(table)
      const where = values.where(conditions)
      const statement = `DELETE FROM ${table} WHERE id = (SELECT id FROM ${table} WHERE ${where} LIMIT 1) RETURNING *`
      return (await database.query<Row>(statement, values.list))[0] ?? null
    },

    async count(table: string, conditions: Condition[]): Promise<number> {
      const values = new Values(table)
      const where = values.where(conditions)
      return countRows(database, `${table} WHERE ${where}`, values.list)
    },
  }
}

export type AuthRows = ReturnType<typeof createAuthRows>

const comparisons = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

/** The bound values of one statement. */
class Values {
  readonly list: SqlValue[] = []
  private readonly columns: ReadonlySet<string>

  constructor(table: string) {
    const columns = tables[table]
    if (!columns) throw new Error(`no table ${table}`)
    this.columns = columns
  }

  column(name: string): string {
    if (!this.columns.has(name)) throw new Error(`no column ${name}`)
    return name
  }

  add(column: string, value: SqlValue): string {
    this.column(column)
    this.list.push(value)
    return `$${this.list.length}`
  }

  where(conditions: Condition[]): string {
    const joined = (connector: 'AND' | 'OR') =>
      conditions.filter((one) => one.connector === connector).map((one) => this.compare(one))
    const all = joined('AND')
    const some = joined('OR')
    if (some.length > 0) all.push(`(${some.join(' OR ')})`)
    return all.length === 0 ? 'TRUE' : all.join(' AND ')
  }

  private compare({ column, operator, value, ignoreCase }: Condition): string {
    this.column(column)
    const folded = ignoreCase && (typeof value === 'string' || Array.isArray(value))
    const left = folded ? `lower(${column})` : column
    const fold = (one: SqlValue): SqlValue => (folded && typeof one === 'string' ? one.toLowerCase() : one)
    switch (operator) {
      case 'in':
      case 'not_in': {
        const listed = (Array.isArray(value) ? value : [value]).map((one) => fold(one as SqlValue))
        const place = this.add(column, listed as SqlValue)
        return operator === 'in' ? `${left} = ANY(${place})` : `NOT (${left} = ANY(${place}))`
      }
      case 'contains':
        return `position(${this.add(column, fold(value))} IN ${left}) > 0`
      case 'starts_with':
        return `starts_with(${left}, ${this.add(column, fold(value))})`
      case 'ends_with': {
        const place = this.add(column, fold(value))
        return `right(${left}, length(${place})) = ${place}`
      }
      default:
        if (value === null) return operator === 'ne' ? `${column} IS NOT NULL` : `${column} IS NULL`
        return `${left} ${comparisons[operator]} ${this.add(column, fold(value))}`
    }
  }
}
