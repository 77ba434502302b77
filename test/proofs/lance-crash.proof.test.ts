import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createLanceEngine, isLanceInstalled } from '../../src/documents/retrieval/index.ts'
import { LanceTables } from '../../src/documents/retrieval/engines/lance/lance-tables.ts'
import { silentLog, type SpaceId, systemClock, type OrganisationId } from '../../src/platform/kernel/index.ts'
import { freshDatabasePlace } from '../harness/database.ts'
import { openDatabases } from '../harness/statements.ts'
import { makeTemporaryFolder } from '../harness/temporary-folder.ts'

const installed = isLanceInstalled()
const victimFile = fileURLToPath(new URL('../harness/lance-build-process.ts', import.meta.url))

test.skipIf(!installed)(
  `kill -9 between a commit and the write to LanceDB hides no document, and the next jobs repair the tables${installed ? '' : ' (skipped: run `npm run install:lance` first)'}`,
  async () => {
    const place = await freshDatabasePlace()
    const address = makeTemporaryFolder('lance-crash')
    const storage = { address, options: {}, cacheBytes: 2 ** 24 }
    const published: string[] = []
    for (const count of [1, 2, 5]) {
      const urls = [place.databaseUrl, place.databaseDirectUrl].filter((url) => url !== undefined)
      const victim = spawn(process.execPath, [victimFile, address, place.dataFolder, ...urls])
      const ended = once(victim, 'exit')
      let lines = 0
      for await (const line of createInterface({ input: victim.stdout })) {
        published.push(line)
        if (++lines === count) victim.kill('SIGKILL')
      }
      await ended
    }
    const databases = await openDatabases({ ...place, clock: systemClock, log: silentLog })
    const { corpus } = databases
    const engine = createLanceEngine({ database: corpus, storage })
    const spaces = await corpus.query<{ organisationId: OrganisationId; spaceId: SpaceId }>(
      'select distinct organisation_id as "organisationId", space_id as "spaceId" from indexed_documents where searchable',
    )
    const found = async () => {
      const documents = new Set<string>()
      for (const scope of spaces) {
        const space = await engine.openSpace({ ...scope, filter: null }, AbortSignal.timeout(60_000))
        const version = space.embeddingVersions[0]!
        const vector = new Float32Array(version.dimensions).fill(1)
        const vectors = [{ version, vector, hasSemantics: true }]
        const candidates = await space.findCandidates({ terms: [], vectors, limit: 5_000 })
        const rows = await corpus.query<{ id: string }>(
          'select distinct document_id as id from chunks where id = any($1::uuid[])',
          [candidates.map(({ chunkId }) => chunkId)],
        )
        for (const { id } of rows) documents.add(id)
      }
      return documents
    }
    expect(published.length).toBeGreaterThanOrEqual(8)
    const before = await found()
    expect(published.filter((id) => !before.has(id))).toEqual([])

    // As three hours later, when a build that is not complete counts as dead.
    await corpus.execute(`update vector_segments set changed_at = now() - interval '4 hours' where state = 'building'`)
    await engine.indexNew({ vectorIndexFromChunks: 1 })
    await engine.maintain({ vectorIndexFromChunks: 1, dropAfterSeconds: 0 })
    const after = await found()
    expect(published.filter((id) => !after.has(id))).toEqual([])
    const tables = new LanceTables(storage)
    const known = await corpus.query<{ name: string; state: string }>(
      'select table_name as name, state from vector_segments',
    )
    expect(known.every(({ state }) => state === 'ready')).toBe(true)
    expect((await tables.listNames()).toSorted()).toEqual(known.map(({ name }) => name).toSorted())
    const [left] = await corpus.query<{ count: number }>(
      `select count(*)::int as count from indexed_documents where searchable and vector_segments = '{}'`,
    )
    expect(left!.count).toBe(0)
    await engine.close()
    await databases.close()
    await place.remove()
  },
  180_000,
)
