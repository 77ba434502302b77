import { problemsOf, type RequestResults } from './check-requests.ts'
import type { JudgedDifference, RequestResult } from './check-request.ts'
import { isInside, withoutPositions } from './diff-bodies.ts'
import type { KnownDifference } from './difference-rules.ts'
import { knownDifferences } from './known-differences.ts'
import { synonyms } from './synonyms.ts'

/** `passed`: compared completely. `in part`: it has fields that Portico does not offer; the rest was compared. */
export type Outcome = 'passed' | 'in part' | 'failed'

export function outcomeOf(result: RequestResult): Outcome {
  if (problemsOf(result).length > 0) return 'failed'
  return result.notOffered.length > 0 ? 'in part' : 'passed'
}

/** The section of docs/reference/conformance.md on requests. */
export function renderRequests(results: RequestResults): string[] {
  return [
    '## Requests',
    '',
    'Each recorded request is read back into a call, and Portico sends that call to the same model. Its body is compared with the',
    'recorded one and with the body that the provider package of the AI SDK sends for the same call. The table of calls compares every',
    'feature at every host with the AI SDK; written requests are bodies in the style of other clients. A difference that is not in the',
    'list below fails, and so does an entry of the list that no longer occurs. Ollama and the embeddings of Vertex have',
    'no package in the AI SDK: their bodies are compared only with the recorded ones.',
    '',
    ...summaryTable(results),
    '',
    '### Differences and their reasons',
    '',
    ...differenceTable(results),
    '',
    '### Treated as equal',
    '',
    '| Format | What | Reason |',
    '|---|---|---|',
    ...synonyms.map(({ formats, what, reason }) => `| ${formats} | ${escape(what)} | ${reason} |`),
    '',
    '### Not offered',
    '',
    'Recorded and written requests have these fields; the compatible API of Portico does not. They are not compared,',
    'and such a request counts as “in part”, never as passed.',
    '',
    ...notOfferedTable([...results.recorded, ...results.written]),
  ]
}

/** The result of a record's request in the table of records. */
export function requestCell(result: RequestResult | undefined): string {
  if (!result) return ''
  const outcome = outcomeOf(result)
  if (outcome === 'failed') return `failed: ${escape(problemsOf(result).join('; '))}`
  return outcome === 'in part' ? `in part, without ${escape(code(result.notOffered))}` : 'passed'
}

function summaryTable({ recorded, table, written }: RequestResults): string[] {
  const hosts = [...new Set([...recorded, ...table, ...written].map(({ host }) => host))].sort()
  const count = (results: readonly RequestResult[], host: string | null, outcome: Outcome) =>
    results.filter((result) => (host === null || result.host === host) && outcomeOf(result) === outcome).length
  const cell = (results: readonly RequestResult[], host: string | null) => {
    const counts = (['passed', 'in part', 'failed'] as const).map((outcome) => ({
      outcome,
      number: count(results, host, outcome),
    }))
    return counts
      .filter(({ number }) => number > 0)
      .map(({ outcome, number }) => `${number} ${outcome}`)
      .join(', ')
  }
  const row = (name: string, host: string | null) =>
    `| ${name} | ${[recorded, table, written].map((results) => cell(results, host)).join(' | ')} |`
  return [
    '| Host | recorded requests | table of calls | written requests |',
    '|---|---|---|---|',
    ...hosts.map((host) => row(host, host)),
    row('**all**', null),
  ]
}

function differenceTable({ recorded, table, written }: RequestResults): string[] {
  const all = [...recorded, ...table, ...written].flatMap(({ differences }) => differences)
  return [
    '| Field | Sent by | Hosts | Compared with | Reason | Source |',
    '|---|---|---|---|---|---|',
    ...knownDifferences.map((entry) =>
      differenceRow(
        entry,
        all.filter(({ known }) => known === entry),
      ),
    ),
  ]
}

const senders = { ours: 'Portico', theirs: 'the other', both: 'both' } as const
const others = { 'ai-sdk': 'AI SDK', recorded: 'recordings' } as const

function differenceRow(entry: KnownDifference, seen: readonly JudgedDifference[]): string {
  const hosts = list(seen.map(({ host }) => host))
  const against = list(seen.map((difference) => others[difference.against]))
  const fields = list(
    seen.map(({ difference: { path } }) => entry.paths.find((place) => isInside(withoutPositions(path), place))!),
  )
  const who = list(entry.who.map((sender) => senders[sender]))
  return `| ${code(fields)} | ${who.join(', ')} | ${hosts.join(', ')} | ${against.join(', ')} | ${escape(entry.reason)} | ${entry.source} |`
}

function notOfferedTable(results: readonly RequestResult[]): string[] {
  const paths = list(results.flatMap(({ notOffered }) => notOffered))
  return [
    '| Field | Hosts | Requests |',
    '|---|---|---|',
    ...paths.map((path) => {
      const asking = results.filter(({ notOffered }) => notOffered.includes(path))
      return `| ${code([path])} | ${list(asking.map(({ host }) => host)).join(', ')} | ${asking.length} |`
    }),
  ]
}

const list = (names: readonly string[]) => [...new Set(names)].sort()
const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
const escape = (text: string) => text.replaceAll('|', '\\|')
