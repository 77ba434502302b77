import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { buildSnapshot } from './price-snapshot/build-snapshot.ts'
import { readSourceTables } from './price-snapshot/source-tables.ts'

/**
 * Writes src/models/snapshot/prices.jsonl from the tables in a folder (`node scripts/write-price-snapshot.ts FOLDER`). Run it when
 * newer tables are at hand, read the diff, and set the date and the commits in price-snapshot/build-snapshot.ts.
 */
const folder = process.argv[2] ?? path.join(import.meta.dirname, '../../shared/data/prices')
const snapshot = buildSnapshot(readSourceTables(folder))
const { lists, ...head } = snapshot

// One model a line: a reviewer reads the diff of a new snapshot line by line.
const owners = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.ownedBy]))
const lines = Object.entries(lists).flatMap(([name, list]) => list.models.map((model) => ({ list: name, ...model })))
const text = [{ ...head, owners }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
writeFileSync(path.join(import.meta.dirname, '../src/models/snapshot/prices.jsonl'), text)

const models = list.models.map((model) => `      ${JSON.stringify(model)}`).join(',\n')
      return `    ${JSON.stringify(name)}: { "ownedBy": ${JSON.stringify(list.ownedBy)}, "models": [\n${models}\n    ]}`
    })
    .join(',\n'),
  '  }\n}\n',
].join('\n')
writeFileSync(path.join(import.meta.dirname, '../src/models/snapshot/prices.json'), text)

const models = Object.values(lists).flatMap((list) => list.models)
console.log(
  `${Object.keys(lists).length} lists, ${models.length} models, ${models.filter((model) => model.disagreement).length} with tables that disagree, ${Buffer.byteLength(text)} bytes`,
)
