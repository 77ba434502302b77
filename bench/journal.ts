/**
 * What durable appends cost, for the choice of the journal's store (docs/decisions): records per second, latency and processor time of
 * the candidates in one run, in alternation: `npm run bench:journal [-- --seconds 1 --rounds 2 --crowds 1,16,64,256 --folder PATH --json FILE]`.
 * Each record is awaited by one of N writers; writes share a sync (group commit), as in the ledger.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs, promisify } from 'node:util'
import { EndMarkWriter, journalFiles } from '../src/gateway/billing/journal/journal-format.ts'
import { queued, type QueuedWrite, WriteQueue } from '../src/gateway/billing/write-queue.ts'
import { systemClock } from '../src/platform/kernel/index.ts'
import { figureWriter, rotated } from './runner/figures.ts'

const record = Buffer.alloc(700, 'x')
const segmentBytes = 64 * 1024 * 1024
const write = promisify(fs.write)
const fdatasync = promisify(fs.fdatasync)

interface Store {
  flush(records: Buffer[]): Promise<void>
  close(): void
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '2' },
    crowds: { type: 'string', default: '1,16,64,256' },
    folder: { type: 'string', default: os.tmpdir() },
    json: { type: 'string' },
  },
})

const writeFigure = figureWriter(values.json)

const folder = fs.mkdtempSync(path.join(values.folder, 'portico-journal-'))
const synced = fs.constants.O_RDWR | fs.constants.O_DSYNC
const stores: Record<string, () => Store> = {
  'own file, write and fdatasync': () => openFile(fs.constants.O_RDWR, true),
  'own file, O_DSYNC': () => openFile(synced, false),
  'own file, O_DSYNC, then its mark': () => openFile(synced, false, true),
  'node:sqlite, WAL, FULL, on the loop': openSqlite,
}

console.log('store | writers | records/s | p50 / p99 ms | processor us per record | longest stall of the loop, ms')
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const crowd of values.crowds.split(',').map(Number)) {
      for (const [name, open] of rotated(Object.entries(stores), round))
        console.log(await measure(name, open(), crowd, round))
    }
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}

async function measure(name: string, store: Store, crowd: number, round: number): Promise<string> {
  const queue = new WriteQueue<QueuedWrite & { resolve(): void }>({
    clock: systemClock,
    maximumBatch: 1024,
    async flush(writes) {
      await store.flush(writes.map(() => record))
      for (const write of writes) write.resolve()
    },
  })
  const latencies: number[] = []
  let stallMs = 0
  let beatMs = performance.now()
  const beat = setInterval(() => {
    stallMs = Math.max(stallMs, performance.now() - beatMs - 1)
    beatMs = performance.now()
  }, 1)
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + Number(values.seconds) * 1000
  await Promise.all(
    Array.from({ length: crowd }, async () => {
      while (performance.now() < endMs) {
        const beganMs = performance.now()
        await new Promise<void>((resolve, reject) => queue.add({ resolve, reject, ...queued(null, false) }))
        latencies.push(performance.now() - beganMs)
        // A call does other work between its records; without this, a store that blocks would never let a timer run.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }),
  )
  const elapsedMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(beat)
  queue.close()
  store.close()
  const processorUs = (user + system) / latencies.length
  const recordsPerSecond = (latencies.length / elapsedMs) * 1000
  const figure = { case: `${crowd} writers`, round, subject: name, reference: name.startsWith('node:sqlite') }
  writeFigure({ ...figure, quantity: 'records/s', value: recordsPerSecond, better: 'higher' })
  writeFigure({ ...figure, quantity: 'processor us', value: processorUs, better: 'lower' })
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(share * (latencies.length - 1))]!.toFixed(2)
  return [
    name.padEnd(36),
    String(crowd).padStart(4),
    String(Math.round(recordsPerSecond)).padStart(8),
    `${at(0.5)} / ${at(0.99)}`.padStart(14),
    processorUs.toFixed(1).padStart(7),
    stallMs.toFixed(1).padStart(6),
  ].join(' | ')
}

/** `isMarked`: with the file that names the acknowledged end, synced in the background as in the ledger. */
function openFile(flags: number, syncs: boolean, isMarked = false): Store {
  const file = path.join(folder, 'segment')
  fs.writeFileSync(file, Buffer.alloc(segmentBytes), { flush: true })
  const descriptor = fs.openSync(file, flags)
  const markDescriptor = fs.openSync(path.join(folder, 'mark'), 'w')
  const journalId = randomUUID()
  const mark = new EndMarkWriter(journalFiles, markDescriptor, () => {})
  let lastSequence = 0
  let position = 0
  return {
    async flush(records) {
      const bytes = Buffer.concat(records)
      if (position + bytes.length > segmentBytes) position = 0
      await write(descriptor, bytes, 0, bytes.length, position)
      if (syncs) await fdatasync(descriptor)
      position += bytes.length
      lastSequence += records.length
      if (isMarked) await mark.write({ journalId, lastSequence })
    },
    close() {
      fs.closeSync(descriptor)
      void mark.close()
    },
  }
}

function openSqlite(): Store {
  const file = path.join(folder, `journal-${performance.now()}.sqlite`)
  const database = new DatabaseSync(file)
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table journal (id integer primary key, record blob)',
  )
  const insert = database.prepare('insert into journal (record) values (?)')
  return {
    async flush(records) {
      // It blocks the loop: without a turn in between no batch would have more than one record.
      await new Promise((resolve) => setImmediate(resolve))
      database.exec('begin')
      for (const each of records) insert.run(each)
      database.exec('commit')
    },
    close: () => database.close(),
  }
}
