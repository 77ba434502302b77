import { type AllowedRooms, findViolations, readModule } from './checks/dependencies.ts'
import { readSourceFiles } from './checks/source-files.ts'

/**
 * Breaks when an import breaks a rule of ARCHITECTURE.md ("Rules that a check enforces"). Reads every module of src/, cli/ and web/
 * and prints each violation with its rule.
 */

/** The rooms that each room may import; `kernel` and its own files always. */
const allowedRooms: AllowedRooms = {
  kernel: [],
  contract: [],
  config: ['contract'],
  database: [],
  jobs: ['database'],
  operators: ['contract', 'database', 'http'],
  accounts: ['contract', 'database', 'http', 'operators', 'organisations'],
  organisations: ['contract', 'database', 'http', 'operators'],
  billing: ['contract', 'database', 'http', 'operators', 'organisations'],
  archive: [],
  backup: ['archive', 'contract', 'database', 'http', 'operators'],
  tokens: [],
  telemetry: [],
  language: [],
  evidence: ['language'],
  providers: ['contract', 'evidence', 'tokens'],
  models: ['contract', 'database', 'http', 'operators', 'organisations', 'billing', 'providers'],
  routing: ['models', 'providers'],
  gateway: ['contract', 'http', 'organisations', 'billing', 'models', 'routing', 'providers', 'tokens'],
  documents: ['contract', 'database', 'http', 'jobs', 'operators', 'organisations'],
  retrieval: ['database', 'gateway', 'language', 'organisations', 'tokens'],
  ingestion: ['contract', 'database', 'jobs', 'documents', 'language', 'retrieval', 'tokens'],
  insights: ['database'],
  spaces: ['contract', 'database', 'http', 'operators'],
  conversations: ['contract', 'database', 'http', 'operators', 'spaces'],
  erasures: ['contract', 'database', 'http', 'operators', 'organisations'],
  chat: [
    'contract',
    'http',
    'organisations',
    'billing',
    'evidence',
    'gateway',
    'evidence',
    'ingestion',
    'language',
    'retrieval',
    'providers',
    'tokens',
    'spaces',
  ],
  'golden-questions': [
    'contract',
    'database',
    'http',
    'jobs',
    'operators',
    'organisations',
    'billing',
    'documents',
    'evidence',
    'insights',
    'language',
    'spaces',
    'chat',
  ],
  'space-archives': [
    'archive',
    'contract',
    'database',
    'documents',
    'golden-questions',
    'http',
    'operators',
    'organisations',
    'retrieval',
    'spaces',
  ],
  console: [
    'accounts',
    'contract',
    'database',
    'http',
    'operators',
    'organisations',
    'billing',
    'models',
    'insights',
    'spaces',
  ],
  http: ['contract'],
}

const modules = readSourceFiles(['src', 'cli', 'web'], /(?<!\.d)\.tsx?$/).map(readModule)
const violations = findViolations(modules, allowedRooms)
if (violations.length > 0) {
  for (const violation of violations) console.error(violation)
  console.error(`${violations.length} broken dependency rules; see ARCHITECTURE.md, "Rules that a check enforces".`)
  process.exitCode = 1
} else console.log(`dependencies: ${modules.length} modules keep the rules`)
