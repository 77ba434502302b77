/**
 * What proves rather than checks: kill loops, faults under load, upgrades, bounds on time and memory, other systems. `npm run test:proofs`
 * runs all, or those it names. CI runs those whose `rooms` have changed since the last release.
 */
export interface Proof {
  name: string
  /** One clause. */
  proves: string
  /** Starts of paths: a change below one of them needs this proof. Changes of its files do too. */
  rooms: readonly string[]
  /** Test files, run by vitest on each of `engines`. */
  files?: readonly string[]
  engines?: readonly ('embedded' | 'postgres')[]
  /** A program, which runs the test files if there are any; its last line is `N passed, N failed`. Exit status 3: this machine cannot run it. */
  command?: readonly string[]
}

const both = ['embedded', 'postgres'] as const
const ledger = ['src/gateway/billing/', 'src/gateway/gateway/', 'src/platform/database/', 'src/platform/kernel/']
const work = ['src/platform/jobs/', 'src/documents/documents/', 'src/documents/ingestion/', 'src/platform/database/']

export const proofs: readonly Proof[] = [
  {
    name: 'ledger-kills',
    proves: 'what was answered is billed once, and nothing else, while processes are killed',
    rooms: ledger,
    files: ['test/proofs/ledger-crash.proof.test.ts', 'test/proofs/ledger-instances.proof.test.ts'],
    engines: both,
  },
  {
    name: 'ledger-simulation',
    proves: 'generated histories of calls, crashes and jumps of the clock keep budgets and totals',
    rooms: [...ledger, 'scripts/ledger-proof'],
    files: ['scripts/ledger-proof/proof.proof.test.ts'],
    engines: both,
  },
  {
    name: 'ledger-faults',
    proves: 'bills stay exact while the server of the database fails',
    rooms: ledger,
    files: ['test/proofs/ledger-database-faults.proof.test.ts'],
    engines: ['postgres'],
  },
  {
    name: 'chaos',
    proves: 'faults of every kind under load lose, bill twice and leave open nothing',
    rooms: [...ledger, ...work, 'src/app/', 'src/chat/chat/', 'src/documents/retrieval/', 'test/chaos/'],
    files: ['test/chaos/chaos.proof.test.ts'],
    engines: both,
  },
  {
    name: 'replaced-instances',
    proves: 'instances come and go behind a proxy, and no call is lost',
    rooms: ['src/app/', 'src/platform/http/', 'src/gateway/billing/'],
    files: ['test/proofs/replacing-instances.proof.test.ts'],
    engines: ['postgres'],
  },
  {
    name: 'failover',
    proves: 'no acknowledged bill, upload or deletion is lost while a primary of PostgreSQL is replaced',
    rooms: [...ledger, ...work, 'deploy/patroni.yml', 'deploy/haproxy.cfg', 'scripts/failover-for-tests.sh'],
    files: ['test/proofs/failover.proof.test.ts'],
    command: ['bash', 'scripts/failover-for-tests.sh', 'prove'],
  },
  {
    name: 'document-kills',
    proves:
      'accepted uploads, pushes, web addresses, replacements, imports, deletions and erasures end while processes are killed',
    rooms: [...work, 'src/chat/space-archives/', 'src/chat/erasures/', 'cli/push/'],
    files: [
      'test/proofs/ingestion-crash.proof.test.ts',
      'test/proofs/documents-replace-crash.proof.test.ts',
      'test/proofs/space-archives-crash.proof.test.ts',
      'test/proofs/background-kills.proof.test.ts',
      'test/proofs/sources-kills.proof.test.ts',
    ],
    engines: both,
  },
  {
    name: 'lance-kills',
    proves: 'documents are found, and tables of LanceDB repaired, when processes are killed between both writes',
    rooms: ['src/documents/retrieval/engines/', 'src/documents/retrieval/corpus/'],
    files: ['test/proofs/lance-crash.proof.test.ts'],
    engines: both,
  },
  {
    name: 'chat-kills',
    proves: 'answers and golden runs are billed once while clients leave and processes are killed',
    rooms: ['src/chat/chat/', 'src/gateway/gateway/', 'src/chat/golden-questions/', 'src/gateway/billing/'],
    files: [
      'test/proofs/space-chat-crash.proof.test.ts',
      'test/proofs/space-chat-kills.proof.test.ts',
      'test/proofs/golden-runs-crash.proof.test.ts',
    ],
    engines: both,
  },
  {
    name: 'start-kills',
    proves: 'a first start that is killed at any point repeats, and committed rows survive',
    rooms: ['src/app/', 'src/platform/database/'],
    files: ['test/proofs/first-start.proof.test.ts', 'test/proofs/database-crash.proof.test.ts'],
    engines: both,
  },
  {
    name: 'upgrades',
    proves: 'databases of earlier versions open, move to a server and keep their content',
    rooms: ['src/platform/database/', 'test/upgrades/'],
    files: ['test/proofs/upgrade.proof.test.ts', 'test/proofs/move-to-postgres.proof.test.ts'],
    engines: both,
  },
  {
    name: 'responsiveness',
    proves: 'no request, document or flood keeps others waiting',
    rooms: [
      'src/platform/http/',
      'src/gateway/gateway/',
      'src/documents/ingestion/',
      'src/chat/chat/',
      'src/platform/evidence/',
      'src/platform/language/',
      'src/tenants/accounts/',
      'src/chat/golden-questions/',
    ],
    files: [
      'test/proofs/responsiveness.proof.test.ts',
      'test/proofs/ingestion-responsiveness.proof.test.ts',
      'test/proofs/ingestion-neighbours.proof.test.ts',
      'test/proofs/largest-request.proof.test.ts',
      'test/proofs/text-attacks.proof.test.ts',
      'test/proofs/sign-in-load.proof.test.ts',
      'test/proofs/floods.proof.test.ts',
      'test/harness/event-loop-guard.proof.test.ts',
      'test/proofs/golden-import.proof.test.ts',
    ],
    engines: ['embedded'],
  },
  {
    name: 'backups',
    proves: 'a backup under load has what was acknowledged, and kills leave no half of a backup or a restore',
    rooms: ['src/app/backup/', 'src/app/offline', 'src/platform/database/embedded/'],
    files: ['test/proofs/backup.proof.test.ts'],
    engines: ['embedded'],
  },
  {
    name: 'corpus',
    proves: 'every file of the shared corpus has its outcome through the whole service',
    rooms: ['src/documents/ingestion/', 'src/documents/documents/', 'scripts/corpus'],
    files: ['test/proofs/documents-corpus.proof.test.ts'],
    engines: both,
  },
  {
    name: 'memory',
    proves: 'memory under load stays below its bounds and does not grow',
    rooms: ['src/'],
    files: ['test/proofs/memory.proof.test.ts', 'scripts/soak/soak.proof.test.ts'],
    engines: ['embedded'],
  },
  {
    name: 'search',
    proves: 'search finds as much as recorded on the shared sets, on both engines',
    rooms: ['src/documents/retrieval/', 'src/platform/language/', 'src/platform/evidence/', 'src/chat/chat/', 'eval/'],
    files: [
      'src/documents/retrieval/search-index.proof.test.ts',
      'eval/shared-data.proof.test.ts',
      'bench/retrieval/vector-share.proof.test.ts',
    ],
    engines: both,
  },
  {
    name: 'properties',
    proves: 'the property tests hold for new random choices',
    // Only with all proofs: a verdict on a change does not depend on luck.
    rooms: [],
    command: ['bash', 'scripts/property-tests.sh'],
  },
  {
    name: 'console-on-postgres',
    proves: 'the console works with PostgreSQL behind it',
    rooms: ['web/', 'src/console/', 'src/contract/'],
    command: ['npm', 'run', 'test:console', '--', 'test/console/newcomer.test.ts', 'test/console/usage.test.ts'],
    engines: ['postgres'],
  },
  {
    name: 'other-postgres',
    proves: 'the other supported version of PostgreSQL works, without PgBouncer',
    rooms: ['src/platform/database/', 'src/documents/retrieval/', 'src/gateway/billing/', 'src/platform/jobs/'],
    command: ['bash', 'scripts/other-postgres.sh'],
  },
  {
    name: 'minimal-debian',
    proves: "the README's commands work on a minimal Debian with Node.js 20, 22 and 24",
    rooms: ['package-lock.json', 'package.json', 'bin/', 'scripts/build-', 'scripts/minimal-', 'README.md'],
    command: ['bash', 'scripts/minimal-system.sh'],
  },
  {
    name: 'image',
    proves: 'the container image builds, starts and answers',
    rooms: ['Dockerfile', 'package-lock.json', 'deploy/', 'bin/', 'scripts/container-image.sh'],
    command: ['bash', 'scripts/container-image.sh'],
  },
]
