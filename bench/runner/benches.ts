/** A bench of bench/ that compares Portico with something a reader knows, with the arguments of each kind of run. */
export interface Bench {
  /** Of the file bench/NAME.ts. */
  name: string
  /** Hours at most, on two cores. */
  full: readonly string[]
  /** All benches together below three minutes on two quiet cores. */
  short: readonly string[]
  /** For CI: all together below two minutes. Undefined where the bench has no figure of processor time. */
  check?: readonly string[]
}

/**
 * Not here: bench/retrieval.ts, bench/tables.ts and bench/pdf-tables.ts, which measure quality.
 */
export const benches: readonly Bench[] = [
  {
    name: 'gateway',
    full: ['--seconds', '4', '--rounds', '5', '--connections', '16,64,1', '--portkey'],
    short: ['--seconds', '0.5', '--rounds', '3', '--connections', '16,1', '--portkey'],
    check: ['--seconds', '0.4', '--rounds', '3', '--connections', '16', '--kinds', 'plain'],
  },
  {
    name: 'ledger',
    full: ['--seconds', '3', '--rounds', '5'],
    short: ['--seconds', '0.4', '--rounds', '3', '--crowds', '1,16'],
    check: ['--seconds', '0.3', '--rounds', '3', '--crowds', '16'],
  },
  {
    name: 'journal',
    full: ['--rounds', '5'],
    short: ['--seconds', '0.2', '--rounds', '3', '--crowds', '16'],
  },
  {
    name: 'database',
    full: ['--seconds', '2', '--rounds', '3'],
    short: ['--seconds', '0.2', '--rounds', '3'],
  },
  {
    name: 'relay',
    full: ['--rounds', '9'],
    short: ['--chunks', '20000', '--rounds', '5'],
    check: ['--chunks', '20000', '--rounds', '3'],
  },
  {
    name: 'search',
    full: ['--sizes', '1000,10000,100000', '--rounds', '5'],
    short: ['--sizes', '1000', '--queries', '60', '--imports', '1'],
    check: ['--sizes', '1000', '--queries', '40', '--imports', '0'],
  },
  {
    name: 'answers',
    full: ['--chunks', '1000,10000'],
    short: ['--chunks', '1000', '--questions', '30', '--pause', '2'],
  },
  {
    name: 'neighbours',
    full: ['--rounds', '3'],
    short: ['--seconds', '2', '--pause', '0.2', '--floods', 'streams:1000,half-headers:2000'],
    check: [
      '--seconds',
      '1.5',
      '--pause',
      '0.2',
      '--rounds',
      '3',
      '--sides',
      'portico',
      '--floods',
      'streams:1000,half-headers:2000',
    ],
  },
  {
    name: 'ingest',
    full: [],
    short: ['--pages', '40', '--rounds', '2', '--only-pdf'],
  },
  {
    name: 'usage-reports',
    full: ['--entries', '1000000'],
    short: ['--entries', '50000', '--rounds', '3'],
  },
  {
    name: 'document-lists',
    full: [],
    short: ['--documents', '5000', '--rounds', '3'],
  },
  {
    name: 'conversations',
    full: ['--turns', '200000'],
    short: ['--turns', '10000', '--rounds', '3'],
  },
  {
    name: 'memory',
    full: ['--requests', '10000', '--steps', '5'],
    short: ['--requests', '200', '--steps', '1'],
  },
]
