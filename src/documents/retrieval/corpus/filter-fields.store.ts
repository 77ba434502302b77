import type { Queryable } from '../../../platform/database/index.ts'

/** Documents of one statement. */
const documentsPerStep = 100

/** Fills the column of filters for documents from before it; a filter matches none of them until then. Resolves to their number. Resumable. */
export async function fillFilterFields(database: Queryable, signal: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    // The trigger of the table writes the column.
    const filled = await database.execute(
      `update documents set metadata = metadata where id in (
         select id from documents where filter_fields is null order by id limit ${documentsPerStep} for no key update skip locked)`,
      [],
      { signal, background: true },
    )
    if (filled === 0) return total
    total += filled
  }
}
