import type { OwnedDatabase } from '../../platform/database/index.ts'
import { serviceActor } from '../../tenants/operators/index.ts'
import type { Organisation, OrganisationStore } from '../../tenants/organisations/index.ts'
import type { Space, SpaceStore } from '../../chat/spaces/index.ts'

export interface DemoStoreDependencies {
  database: OwnedDatabase
  organisationStore: Pick<OrganisationStore, 'insertWithin'>
  spaceStore: Pick<SpaceStore, 'insertWithin'>
}

export function createDemoStore({ database, organisationStore, spaceStore }: DemoStoreDependencies) {
  return {
    /** Stores both, once per database and only while it has no organisation. */
    insertOnce: (organisation: Organisation, space: Space) =>
      database.transaction(async (transaction) => {
        // An instance that inserts at the same time waits here until the first one has committed.
        const decided = await transaction.execute(
          `INSERT INTO demo (organisation_id, space_id)
           SELECT $1::uuid, $2::uuid WHERE NOT EXISTS (SELECT FROM organisations)
           ON CONFLICT (only_row) DO NOTHING`,
          [organisation.id, space.id],
        )
        if (decided === 0) return
        await organisationStore.insertWithin(transaction, organisation, serviceActor)
        await spaceStore.insertWithin(transaction, space, serviceActor)
      }),
    /** The demo whose key was not printed yet: its organisation has no key. */
    async loadUnfinished(): Promise<{ organisationId: string; spaceId: string; endpointId: string } | undefined> {
      const [row] = await database.query<{ organisationId: string; spaceId: string; endpointId: string }>(
        `SELECT d.organisation_id AS "organisationId", d.space_id AS "spaceId", s.endpoint_id AS "endpointId"
           FROM demo d
           JOIN spaces s ON s.id = d.space_id AND s.published
          WHERE NOT EXISTS (SELECT FROM api_keys k WHERE k.organisation_id = d.organisation_id)`,
      )
      return row
    },
  }
}
