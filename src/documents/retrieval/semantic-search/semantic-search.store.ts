import type { OwnedDatabase, Queryable, RecordChange } from '../../../platform/database/index.ts'
import { type Actor, recordAdminChange } from '../../../tenants/operators/index.ts'

/** Topic of the change feed. */
export const semanticSearchTopic = 'semantic-search'

/** The embedding model that operators chose. */
export interface ChosenModel {
  /** Of the catalogue, with `eu/` for the EU side. */
  model: string
  dimensions: number
}

export type SemanticSearchStore = ReturnType<typeof createSemanticSearchStore>

export function createSemanticSearchStore(database: OwnedDatabase, recordChange: RecordChange) {
  return {
    load: () => load(database),

    /** One change at a time. Every instance learns of it, also where nothing changes. */
    change: (
      make: (before: ChosenModel | undefined) => ChosenModel | undefined,
      { actor, atMs }: { actor: Actor; atMs: number },
    ): Promise<void> =>
      database.transaction(async (transaction) => {
        // Locks a row that does not exist yet as well.
        await transaction.execute('lock table semantic_search in share row exclusive mode')
        const before = await load(transaction)
        const after = make(before)
        await recordChange(transaction, semanticSearchTopic, 'only')
        if (before?.model === after?.model && before?.dimensions === after?.dimensions) return
        await transaction.execute('delete from semantic_search')
        if (after)
          await transaction.execute('insert into semantic_search (model, dimensions, chosen_at) values ($1, $2, $3)', [
            after.model,
            after.dimensions,
            new Date(atMs),
          ])
        await recordAdminChange(transaction, {
          actor,
          atMs,
          action: after ? 'semantic_search.enabled' : 'semantic_search.disabled',
          subjectType: 'semantic_search',
          subjectId: 'only',
          organisationId: null,
          before: before ? { ...before } : null,
          after: after ? { ...after } : null,
        })
      }),
  }
}

async function load(queryable: Queryable): Promise<ChosenModel | undefined> {
  const [row] = await queryable.query<ChosenModel>('select model, dimensions from semantic_search')
  return row
}
