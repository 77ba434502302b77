import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type TestDatabase } from '../../test/harness/statements.ts'

/** As large as a settlement in the journal. */
const record = Buffer.alloc(700, 'x')
const fileBytes = 64 * 1024 ** 2

/** Makes one record durable. */
export interface PlainStore {
  write(): Promise<unknown>
  close(): Promise<unknown>
}

/** Records in a file of fixed size: one fdatasync for all that arrived during the last one, and no other work. */
export function openPlainFile(folder: string): PlainStore {
  const file = path.join(folder, 'plain')
  fs.writeFileSync(file, Buffer.alloc(fileBytes), { flush: true })
  const descriptor = fs.openSync(file, 'r+')
  const write = promisify(fs.write)
  const fdatasync = promisify(fs.fdatasync)
  let position = 0
  let waiting: { resolve(): void; reject(error: unknown): void }[] = []
  let isRunning = false
  const flush = async (count: number) => {
    const bytes = Buffer.alloc(count * record.length, record)
    if (position + bytes.length > fileBytes) position = 0
    await write(descriptor, bytes, 0, bytes.length, position)
    await fdatasync(descriptor)
    position += bytes.length
  }
  const run = async () => {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await flush(batch.length).then(
        () => batch.forEach(({ resolve }) => resolve()),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      )
    }
    isRunning = false
  }
  const add = () =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ resolve, reject })
      if (!isRunning) void run()
    })
  return { write: add, close: async () => fs.closeSync(descriptor) }
}

/** A row of the same size in a table with one index, committed by itself. */
export async function openPlainTable(database: TestDatabase): Promise<PlainStore> {
  await database.execute('create table bench_calls (id bigint generated always as identity primary key, note bytea)')
  return {
    write: () => database.execute('insert into bench_calls (note) values ($1)', [record]),
    close: () => database.execute('drop table bench_calls'),
  }
}
