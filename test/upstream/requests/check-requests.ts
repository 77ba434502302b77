import type { WireIndex, WireRecord } from '../wire-index.ts'
import { settingsFor } from '../record-provider.ts'
import { callTable } from './call-table.ts'
import { checkCall, checkRecordedBody, hostOf, type RequestResult } from './check-request.ts'
import type { KnownDifference } from './difference-rules.ts'
import { knownDifferences } from './known-differences.ts'
import { writtenBodies } from './written-bodies.ts'

export interface RequestResults {
  /** By the id of their record. */
  recorded: RequestResult[]
  /** The table of calls and the written bodies; absent for a folder of recordings alone. */
  table: RequestResult[]
  written: RequestResult[]
}

/** Every recorded request of an index. An unreadable one is a result, never an exception. */
export async function checkRecordedRequests(index: WireIndex): Promise<RequestResult[]> {
  const results: RequestResult[] = []
  for (const record of index.records) {
    if (record.request_file) results.push(await checkRecord(record, index))
  }
  return results
}

/** Everything but recordings: the table of calls, and bodies in the style of other clients. */
export async function checkOwnRequests(): Promise<Omit<RequestResults, 'recorded'>> {
  const table: RequestResult[] = []
  for (const { id, settings, call } of callTable) table.push(await checkCall(id, settings, call))
  const written: RequestResult[] = []
  for (const body of writtenBodies) written.push(await checkRecordedBody(body))
  return { table, written }
}

/** The reasons for which a result fails, one line each. */
export function problemsOf({ failure, differences }: RequestResult): string[] {
  if (failure !== null) return [failure]
  return differences
    .filter(({ known }) => known === null)
    .map(({ against, difference: { path, ours, theirs } }) => {
      const other = against === 'ai-sdk' ? 'the AI SDK' : 'the recording'
      return `request: ${path}: ${show(ours)} here, ${show(theirs)} in ${other}`
    })
}

/** Known differences that no result has. */
export function staleEntries({ recorded, table, written }: RequestResults): KnownDifference[] {
  const seen = new Set(
    [...recorded, ...table, ...written].flatMap(({ differences }) => differences.map(({ known }) => known)),
  )
  return knownDifferences.filter((entry) => !seen.has(entry))
}

async function checkRecord(record: WireRecord, index: WireIndex): Promise<RequestResult> {
  const settings = settingsFor(record, 'https://host.test')
  const empty = { id: record.id, host: record.provider, against: [], differences: [], notOffered: [], failure: null }
  // The result of the answer reports this failure.
  if (settings === null) return { ...empty, notOffered: [`the format ${record.api}`] }
  const body = index.requestOf(record)
  // Some recordings of errors are about a client's invalid body.
  if (body === null) return { ...empty, host: hostOf(settings), notOffered: ['a body that is no JSON object'] }
  const address = decodeURIComponent(URL.parse(record.url ?? '')?.pathname ?? '')
  try {
    return await checkRecordedBody({
      id: record.id,
      settings,
      kind: record.kind === 'embeddings' ? 'embeddings' : 'chat',
      body,
      model: modelIn(address),
      stream: body.stream === true || /stream/i.test(address),
    })
  } catch (error) {
    return { ...empty, host: hostOf(settings), failure: `request: ${String(error)}` }
  }
}

/** `…/models/MODEL:generateContent`, `/model/MODEL/converse`, `…/deployments/MODEL/…`. */
function modelIn(address: string): string {
  return (
    /\/(?:models|deployments|model)\/(.+?)(?::[a-zA-Z]+$|\/(?:converse|invoke|chat|embeddings)|$)/.exec(address)?.[1] ??
    'test-model'
  )
}

const maximumShownCharacters = 100

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > maximumShownCharacters ? `${text.slice(0, maximumShownCharacters)}…` : text
}
