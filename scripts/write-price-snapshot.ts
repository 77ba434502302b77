import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { buildSnapshot } from './price-snapshot/build-snapshot.ts'
import { readSourceTables } from './price-snapshot/source-tables.ts'

/**
 * Writes src/gateway/models/snapshot/prices.jsonl from the tables in a folder (`bin/run scripts/write-price-snapshot.ts FOLDER`). Run it with newer
 * tables, read the diff, and set the date and the commits in price-snapshot/build-snapshot.ts.
 */
const folder = process.argv[2] ?? path.join(import.meta.dirname, '../../shared/data/prices')
const { lists, ...head } = buildSnapshot(readSourceTables(folder))

// One model per line: a reviewer reads the diff of a new snapshot line by line.
const owners = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.ownedBy]))
const lines = Object.entries(lists).flatMap(([name, list]) => list.models.map((model) => ({ list: name, ...model })))
const text = [{ ...head, owners }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
writeFileSync(path.join(import.meta.dirname, '../src/gateway/models/snapshot/prices.jsonl'), text)

const disagreeing = lines.filter((line) => line.disagreement !== undefined).length
console.log(
  `${Object.keys(lists).length} lists, ${lines.length} models, ${disagreeing} with tables that disagree, ${Buffer.byteLength(text)} bytes`,
)
