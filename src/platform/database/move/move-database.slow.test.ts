import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeSchemas } from '../../../../scripts/describe-schema.ts'
import {
  type DatabasePlace,
  freshDatabasePlace,
  freshDataFolder,
  testServerUrl,
  withoutPooler,
} from '../../../../test/harness/database.ts'
import { createUuid, silentLog, systemClock } from '../../kernel/index.ts'
import {
  createEmbeddingVersions,
  vectorParameter,
  vectorTable,
} from '../../../documents/retrieval/corpus/embedding-versions.store.ts'
import { type OpenedDatabases, openDatabases } from '../../../../test/harness/statements.ts'
import { checkTarget, endMove, moveDatabase } from './move-database.ts'

/** Needs a server; test/proofs/move-to-postgres.proof.test.ts moves the data of a service. */

const options = { clock: systemClock, log: silentLog, allowUnfinishedMove: true }
const vector = Float32Array.from({ length: 384 }, (_, index) => Math.sin(index) * 10 ** ((index % 60) - 30))
const textWithSigns = 'a "quoted" text, {braces}, \\backslash, \'single\',\ttab\nNULL é 𝄞'

describe.skipIf(testServerUrl() === undefined)('a move to a server', () => {
  let folder: string
  let source: OpenedDatabases
  let place: DatabasePlace
  let target: OpenedDatabases
  const moveId = createUuid()

  beforeAll(async () => {
    folder = await freshDataFolder()
    source = await openDatabases({ ...options, dataFolder: folder })
    await fill()
  }, 60_000)
  afterAll(async () => {
    await source?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    place = await freshDatabasePlace()
    const url = withoutPooler(place).databaseUrl!
    target = await openDatabases({ ...options, dataFolder: place.dataFolder, databaseUrl: url })
    return async () => {
      await target.close()
      await place.remove()
    }
  })

  async function fill() {
    const { control, corpus } = source
    const ids = { organisation: createUuid(), space: createUuid(), document: createUuid(), chunk: createUuid() }
    await control.execute(
      `insert into admin_log (id, at, actor, action, subject_type, subject_id, before, after)
       select gen_random_uuid(), '2026-11-22 10:00:00.123456+02', 'operator', 'x', 'y', n::text, null, '{"b": 1, "a": [1.10, null]}' from generate_series(1, 3000) n`,
    )
    await control.execute(
      `insert into ledger_entries (request_id, organisation_id, period, surface, model, started_at, settled_at, prompt_tokens, completion_tokens,
         cached_tokens, cache_write_tokens, reasoning_tokens, input_atto_usd, output_atto_usd, cache_read_atto_usd, cache_write_atto_usd,
         reasoning_atto_usd, price_source, stated_atto_usd, markup_basis_points, billed_pico_usd, written_off_pico_usd, estimated, ending)
       values ('req_1', $1, '2026-11', 'gateway', 'm', now(), now(), 9007199254740993, 1, 0, 0, 0, 1, 1, 0, 0, 0, 'x', 12345678901234567890.5, 0, 1, 0, false, 'complete')`,
      [ids.organisation],
    )
    await corpus.execute(
      `insert into documents (id, organisation_id, space_id, name, metadata, format, mime_type, size_bytes, content_sha256, blob_key, status)
       values ($1, $2, $3, $4, '{ "z": 1,  "a":"two  spaces" }', 'txt', 'text/plain', 1, '\\x00ff', 'a/b/c', 'ready')`,
      [ids.document, ids.organisation, ids.space, textWithSigns],
    )
    await corpus.execute(
      `insert into indexed_documents (document_id, organisation_id, space_id, run_id, languages) values ($1, $2, $3, $4, $5::text[])`,
      [ids.document, ids.organisation, ids.space, createUuid(), [textWithSigns, 'NULL', '', null]],
    )
    await corpus.execute(
      `insert into job (kind, key, payload, state, run_after) select 'k', 'key ' || n, '{}', 'delayed', 'infinity' from generate_series(1, 300) n`,
    )
    const version = await createEmbeddingVersions(corpus).prepare({
      id: 'test',
      dimensions: vector.length,
      source: undefined,
    })
    await corpus.execute(`insert into ${vectorTable(version)} values ($1, $2, $3, $4, $5::${version.storage})`, [
      ids.organisation,
      ids.space,
      ids.chunk,
      ids.document,
      vectorParameter(version, vector),
    ])
  }

  const both = ['corpus', 'control'] as const
  async function moveAll(onProgress: (text: string) => void = () => {}) {
    const moved: Record<string, { rows: number; sha256: string }> = {}
    for (const name of both) {
      const tables = await moveDatabase({ source: source[name], target: target[name], moveId, onProgress })
      for (const { table, ...sums } of tables) moved[table] = sums
    }
    return moved
  }

  it('leaves every value, the schema and the sequences as they are', async () => {
    const moved = await moveAll()
    expect(moved['admin_log']!.rows).toBe(3_000)
    // The trigger of ledger_entries has queued the entry in the source, and not again in the target.
    expect(moved['usage_queue']!.rows).toBe(1)
    const read = async (databases: OpenedDatabases) => [
      await databases.corpus.query('select metadata::text, name, name_key, document_id, content_sha256 from documents'),
      await databases.corpus.query('select languages from indexed_documents'),
      await databases.corpus.query('select embedding::text from embeddings_1'),
      await databases.control.query(`select at, after from admin_log where subject_id = '7'`),
      await databases.control.query('select prompt_tokens, stated_atto_usd from ledger_entries'),
    ]
    expect(await read(target)).toEqual(await read(source))
    const [job] = await target.corpus.query<{ id: bigint }>(
      `insert into job (kind, key, payload, state, run_after) values ('k', 'next', '{}', 'delayed', 'infinity') returning id`,
    )
    expect(job!.id).toBe(301n)
    const [vectors] = await target.corpus.query(
      `select attstorage::text as storage, (select count(*) from pg_index where indrelid = attrelid) as indexes,
              (select count(*) from pg_constraint where conrelid = attrelid and contype = 'f') as "foreignKeys"
       from pg_attribute where attrelid = 'embeddings_1'::regclass and attname = 'embedding'`,
    )
    expect(vectors).toEqual({ storage: 'p', indexes: 2n, foreignKeys: 1n })
    await endMove(target)
    await target.corpus.execute('drop table embeddings_1')
    const schema = readFileSync(path.join(import.meta.dirname, '../schema.sql'), 'utf8')
    // A server names the schema of a table in the definition of an index.
    expect((await describeSchemas(target)).replaceAll(/\bportico_(?:control|corpus)\./g, '')).toBe(schema)
    const [disabled] = await target.control.query(
      `select count(*) as triggers from pg_trigger where not tgisinternal and tgenabled = 'D'`,
    )
    expect(disabled).toEqual({ triggers: 0n })
  }, 120_000)

  it('continues after an attempt that was ended at any step', async () => {
    let attempts = 0
    const steps: string[] = []
    const endedAt = [
      /^job,/,
      /^admin_log, 600 of/,
      /^index conversations_failed/,
      /^foreign key golden/,
      /^comparing usage_queue/,
      /^statistics/,
    ]
    for (const step of endedAt) {
      const attempt = moveAll((text) => {
        steps.push(text)
        if (step.test(text)) throw new Error('ended')
      })
      await expect(attempt).rejects.toThrow('ended')
      attempts++
    }
    expect(attempts).toBe(endedAt.length)
    const moved = await moveAll((text) => steps.push(text))
    expect(moved['admin_log']!.rows).toBe(3_000)
    expect(steps.filter((text) => text.startsWith('admin_log, 3000 of'))).toHaveLength(1)
    expect(steps.filter((text) => text === 'index admin_log_by_actor')).toHaveLength(1)
  }, 180_000)

  it('names a row that was changed, removed or added on the server', async () => {
    const control = { source: source.control, target: target.control, moveId, onProgress: () => {} }
    await moveDatabase(control)
    const compare = () =>
      moveDatabase(control).then(
        () => 'the same',
        (error: Error) => error.message,
      )
    const change = (statement: string) => target.control.execute(statement)
    await change(`update admin_log set after = '{"b": 2}' where subject_id = '2500'`)
    const [{ id }] = (await target.control.query<{ id: string }>(
      `select id from admin_log where subject_id = '2500'`,
    )) as [{ id: string }]
    expect(await compare()).toContain(`the row ${id} differs`)
    await change(`delete from admin_log where subject_id = '2500'`)
    expect(await compare()).toContain(`the row ${id} is not on the server`)
    await change(
      `insert into admin_log select '${id}', at, actor, request_id, action, subject_type, '2500', null, null, '{"b": 1, "a": [1.10, null]}'::jsonb, null, null from admin_log where subject_id = '1'`,
    )
    expect(await compare()).toBe('the same')
    await change(
      `insert into admin_log select gen_random_uuid(), at, actor, null, action, subject_type, '0', null, null, null, null, null from admin_log limit 1`,
    )
    expect(await compare()).toContain('the server has rows that the data folder does not have')
  }, 180_000)

  it('refuses another data folder, a database in use, and a start before the end', async () => {
    await target.control.execute(
      `insert into admin_log (id, at, actor, action, subject_type, subject_id) values (gen_random_uuid(), now(), 'a', 'b', 'c', 'd')`,
    )
    const control = { source: source.control, target: target.control }
    await expect(checkTarget({ ...control, moveId })).rejects.toThrow('is not empty')
    const corpus = { source: source.corpus, target: target.corpus }
    expect(await checkTarget({ ...corpus, moveId })).toBe(false)
    await moveDatabase({ ...corpus, moveId, onProgress: () => {} })
    expect(await checkTarget({ ...corpus, moveId })).toBe(true)
    await expect(checkTarget({ ...corpus, moveId: createUuid() })).rejects.toThrow('a part of another data folder')
    const databaseUrl = withoutPooler(place).databaseUrl!
    const start = openDatabases({ ...options, allowUnfinishedMove: false, dataFolder: place.dataFolder, databaseUrl })
    await expect(start).rejects.toThrow('finish with portico migrate embedded-to-postgres')
  }, 120_000)
})
