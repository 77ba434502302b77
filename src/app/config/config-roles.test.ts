import { describe, expect, it } from 'vitest'
import { makeTemporaryFolder } from '../../../test/harness/temporary-folder.ts'
import { hasReusePort, loadConfig } from './config.ts'

const folder = () => makeTemporaryFolder('config')
const server = { DATABASE_URL: 'postgres://127.0.0.1/portico' }

describe('the role', () => {
  it('is all, in one process, when nothing is set', () => {
    const { settings, processNumber } = loadConfig({}, folder())
    expect(settings.server).toMatchObject({ role: 'all', processes: 1 })
    expect(processNumber).toBe(1)
  })

  it('comes from the command line, which wins over the environment', () => {
    const environment = { ...server, PORTICO_ROLE: 'worker', PORTICO_PROCESSES: '2' }
    expect(loadConfig(environment, folder()).settings.server).toMatchObject({ role: 'worker', processes: 2 })
    const given = { settings: { 'server.role': 'gateway' }, processNumber: 2 } as const
    const config = loadConfig(environment, folder(), given)
    expect(config.settings.server).toMatchObject({ role: 'gateway', processes: 2 })
    expect(config.processNumber).toBe(2)
  })

  it.each([
    [{ PORTICO_ROLE: 'gateway' }, 'the role gateway needs a PostgreSQL server'],
    [{ PORTICO_ROLE: 'api' }, 'the role api needs a PostgreSQL server'],
    [{ PORTICO_ROLE: 'worker' }, 'the role worker needs a PostgreSQL server'],
    [{ PORTICO_PROCESSES: '4' }, '4 processes need a PostgreSQL server'],
    [{ PORTICO_ROLE: 'api', PORTICO_CORPUS_DATABASE_URL: server.DATABASE_URL }, 'Set DATABASE_URL as well'],
  ])('%j is refused with the embedded database, and the error names the way out', (environment, message) => {
    const start = () => loadConfig(environment, folder())
    expect(start).toThrow(message)
    expect(start).toThrow(/Set DATABASE_URL .*or leave server\.(role|processes) \(--/)
  })

  it('several processes need a port that they can share', () => {
    expect(() => loadConfig({ ...server, PORT: '0', PORTICO_PROCESSES: '2' }, folder())).toThrow(
      'name the port that the processes share',
    )
  })

  it('Node.js shares a port from 22.12 and 23.1 on', () => {
    const versions = ['20.19.0', '22.11.0', '22.12.0', '23.0.0', '23.1.0', '24.0.0']
    expect(versions.filter(hasReusePort)).toEqual(['22.12.0', '23.1.0', '24.0.0'])
  })

  it.each([
    [{ 'server.role': 'gatway' }, '--role must be one of'],
    [{ 'server.processes': '0' }, '--processes must be'],
    [{ 'server.processes': 'many' }, '--processes must be'],
  ])('an option with the wrong value is named: %j', (settings, message) => {
    expect(() => loadConfig(server, folder(), { settings })).toThrow(message)
  })
})

describe('the journal of the ledger', () => {
  it.each([
    [{ ...server, PORTICO_LEDGER_JOURNAL: 'local' }, 'cannot be local with a PostgreSQL server'],
    [{ ...server, PORTICO_LEDGER_JOURNAL_FOLDER: 'journal' }, 'there is no journal in front of a PostgreSQL server'],
  ])('in front of a server ends the start with the way out', (environment, message) => {
    expect(() => loadConfig(environment, folder())).toThrow(message)
    expect(() => loadConfig(environment, folder())).toThrow(/Remove/)
  })

  it.each(['auto', 'database'])('may be %s with a server', (journal) => {
    expect(loadConfig({ ...server, PORTICO_LEDGER_JOURNAL: journal }, folder()).settings.ledger.journal).toBe(journal)
  })
})
