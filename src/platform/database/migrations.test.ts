import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { firstRelease } from '../../../test/harness/first-release.ts'
import { migrationsFolder, readMigrations } from './migration-scripts.ts'

/**
 * Squawk reads the scripts: a script holds no lock for as long as a large table is read or written, and the code of the version before runs
 * on the schema after it. Scripts up to the first release are left out.
 */

/** Each script runs in one transaction with a limit of waiting for locks. The others are a matter of style. */
const excluded = [
  'prefer-robust-stmts',
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'adding-serial-primary-key-field',
]
/** What removes or changes something that the code of the version before uses; allowed where `-- needs-version` names the first code that does not. */
const contracting = [
  'ban-drop-column',
  'ban-drop-table',
  'renaming-column',
  'renaming-table',
  'adding-required-field',
  'adding-not-nullable-field',
  'changing-column-type',
]

const modules = path.join(import.meta.dirname, '../../../node_modules')
const squawk = path.join(modules, '.bin/squawk')
const hasSquawk = fs.existsSync(path.join(modules, '@squawk-cli'))

/** The rules that a script breaks. */
function findingsOf(file: string, sql: string): Promise<string[]> {
  const excludedHere = /^-- needs-version: /m.test(sql) ? [...excluded, ...contracting] : excluded
  const inTransaction = /index concurrently/i.test(sql) ? [] : ['--assume-in-transaction']
  const options = [...inTransaction, '--pg-version', '15', '--reporter', 'json', '--exclude', excludedHere.join(',')]
  return new Promise((resolve, reject) => {
    execFile(squawk, [...options, file], (error, stdout) => {
      // Its status is 1 after findings.
      if (error && error.code !== 1) reject(error)
      else resolve((JSON.parse(stdout) as { rule_name: string }[]).map((finding) => finding.rule_name))
    })
  })
}

/** Statements that write rows of a table: they may read all of it. */
function bulkWritesOf(sql: string): string[] {
  const outsideOfFunctions = sql.replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replaceAll(/^--.*$/gm, '')
  return [...outsideOfFunctions.matchAll(/^\s*(update|delete from|merge into)\s+(\w+)/gim)].map(
    ([, verb, table]) => `${verb!.toLowerCase()} ${table}`,
  )
}

describe.skipIf(!hasSquawk).each(['control', 'corpus'] as const)(
  'scripts of %s since the first release (needs squawk)',
  (name) => {
    const recent = readMigrations(name).filter((migration) => migration.name > firstRelease[name])

    test('hold no lock for long, and break no code of the version before', async () => {
      for (const { name: script, sql } of recent) {
        const findings = await findingsOf(path.join(migrationsFolder, name, `${script}.sql`), sql)
        expect({ script, findings }).toEqual({ script, findings: [] })
        const written = /^-- few-rows: /m.test(sql) ? [] : bulkWritesOf(sql)
        expect({ script, written }, 'fill columns from a job, or add "-- few-rows: WHY"').toEqual({
          script,
          written: [],
        })
      }
    }, 120_000)
  },
)

const upgrades = path.join(import.meta.dirname, '../../../test/upgrades')

/** Databases that earlier versions made have the hash of each script: an edited comment would keep them from opening. */
test.each(fs.readdirSync(upgrades).filter((name) => name.endsWith('.sql.gz')))(
  'the scripts of %s have the text that they had then',
  (file) => {
    const dump = gunzipSync(fs.readFileSync(path.join(upgrades, file))).toString()
    const applied = [...dump.matchAll(/^INSERT INTO portico_migrations VALUES \('([^']+)', '([0-9a-f]{64})'/gm)]
    const now = new Map(
      readMigrations(file.includes('.corpus.') ? 'corpus' : 'control').map(({ name, checksum }) => [name, checksum]),
    )
    expect(applied.length).toBeGreaterThan(5)
    expect(applied.filter(([, name, checksum]) => now.has(name!) && now.get(name!) !== checksum)).toEqual([])
  },
)

describe.skipIf(!hasSquawk)('the check of scripts (needs squawk)', () => {
  const check = async (sql: string) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-squawk-'))
    const file = path.join(folder, 'script.sql')
    fs.writeFileSync(file, sql)
    const findings = await findingsOf(file, sql)
    fs.rmSync(folder, { recursive: true })
    return findings
  }

  test.each([
    ['create index x on documents (name);', 'require-concurrent-index-creation'],
    ['alter table documents add column a timestamptz default clock_timestamp();', 'adding-field-with-default'],
    ['alter table documents alter column a set not null;', 'adding-not-nullable-field'],
    ["alter table documents add constraint c check (a <> '');", 'constraint-missing-not-valid'],
    ['alter table documents alter column a type text;', 'changing-column-type'],
    ['alter table documents drop column a;', 'ban-drop-column'],
    ['alter table documents rename column a to b;', 'renaming-column'],
    ['alter table documents add column a text not null;', 'adding-required-field'],
    ['drop table documents;', 'ban-drop-table'],
  ])('finds %s', async (sql, rule) => {
    expect(await check(sql)).toContain(rule)
  })

  test.each([
    "alter table documents add column a text not null default '';",
    'create table fresh (id bigint primary key, n bigint not null); create index fresh_n on fresh (n);',
    'create index concurrently if not exists x on documents (name);',
    '-- needs-version: 0.2.0\nalter table documents drop column a;',
  ])('accepts %s', async (sql) => {
    expect(await check(sql)).toEqual([])
  })

  test('finds statements that may write many rows', () => {
    expect(
      bulkWritesOf('update documents set a = 1;\ncreate function f() returns int as $$ delete from x $$ language sql;'),
    ).toEqual(['update documents'])
  })
})
