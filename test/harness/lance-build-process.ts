/**
 * A process that tests kill: `lance-build-process.ts ADDRESS DATA_FOLDER [DATABASE_URL [DIRECT_URL]]`. It publishes documents and copies each
 * into a table of LanceDB. A line of standard output is the id of a document that is committed; its table may be half written.
 */
import { createLanceEngine } from '../../src/documents/retrieval/index.ts'
import { createIndexFixture } from '../../src/documents/retrieval/testing/index-fixture.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { openDatabases } from './statements.ts'

const [address, dataFolder, databaseUrl, databaseDirectUrl] = process.argv.slice(2)
const options = { dataFolder: dataFolder!, databaseUrl, databaseDirectUrl, clock: systemClock, log: silentLog }
const databases = await openDatabases(options)
const { index, add } = await createIndexFixture({
  databases: { ...databases, drop: databases.close },
  createEngine: (database) =>
    createLanceEngine({ database, storage: { address: address!, options: {}, cacheBytes: 2 ** 24 } }),
})
for (let number = 0; ; number++) {
  const { id } = await add(Array.from({ length: 20 }, (_, at) => `Entry ${number} ${at} of the list of herons.`))
  process.stdout.write(`${id}\n`)
  await index.engine.indexNew({ vectorIndexFromChunks: 1 })
}
