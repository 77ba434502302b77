import { findRoomsWithoutIndex, findTwins, findViolations, readModule, type Wings } from './checks/dependencies.ts'
import { listPaths, readSourceFiles } from './checks/source-files.ts'

/**
 * Breaks when an import breaks a rule of ARCHITECTURE.md ("Rules that a check enforces"). Reads every module of src/, cli/ and web/
 * and prints each violation with its rule.
 */

/** The wings of src/ and their rooms. Files of src/app outside of its rooms compose the service and may import everything. */
const wings: Wings = {
  contract: { imports: [], rooms: {} },
  platform: {
    imports: ['contract'],
    rooms: {
      kernel: [],
      bodies: [],
      language: [],
      evidence: ['language'],
      database: [],
      jobs: ['database'],
      archive: [],
      telemetry: [],
      log: [],
      http: ['bodies'],
    },
  },
  tenants: {
    imports: ['contract', 'platform'],
    rooms: {
      operators: [],
      organisations: ['operators'],
      accounts: ['operators', 'organisations'],
      alerts: ['operators', 'organisations'],
    },
  },
  gateway: {
    imports: ['contract', 'platform', 'tenants'],
    rooms: {
      tokens: [],
      conversation: [],
      billing: [],
      providers: ['conversation', 'tokens'],
      models: ['billing', 'providers'],
      routing: ['models', 'providers'],
      gateway: ['billing', 'conversation', 'models', 'routing', 'providers', 'tokens'],
      apis: ['billing', 'conversation', 'gateway', 'models', 'providers', 'tokens'],
    },
  },
  documents: {
    imports: ['contract', 'platform', 'tenants', 'gateway'],
    rooms: { documents: [], retrieval: [], ingestion: ['documents', 'retrieval'] },
  },
  chat: {
    imports: ['contract', 'platform', 'tenants', 'gateway', 'documents'],
    rooms: {
      spaces: [],
      insights: [],
      conversations: ['spaces'],
      erasures: [],
      'space-tools': ['spaces'],
      chat: ['space-tools', 'spaces'],
      'golden-questions': ['insights', 'spaces', 'chat'],
      mcp: ['chat', 'spaces'],
      visitors: ['chat', 'conversations', 'spaces'],
      'space-archives': ['golden-questions', 'space-tools', 'spaces'],
    },
  },
  console: { imports: ['contract', 'platform', 'tenants', 'gateway', 'chat'], rooms: {} },
  app: { imports: ['contract', 'platform', 'tenants'], rooms: { config: [], backup: [] } },
}

const modules = readSourceFiles(['src', 'cli', 'web'], /(?<!\.d)\.tsx?$/).map(readModule)
const paths = listPaths(['src', 'cli', 'web'])
const violations = [...findViolations(modules, wings), ...findRoomsWithoutIndex(paths, wings), ...findTwins(paths)]
if (violations.length > 0) {
  for (const violation of violations) console.error(violation)
  console.error(`${violations.length} broken dependency rules; see ARCHITECTURE.md, "Rules that a check enforces".`)
  process.exitCode = 1
} else console.log(`dependencies: ${modules.length} modules keep the rules`)
