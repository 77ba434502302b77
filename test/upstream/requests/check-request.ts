import { ProviderError, type ProviderSettings } from '../../../src/gateway/providers/index.ts'
import { asObject, type JsonObject } from '../../../src/gateway/providers/wire-json.ts'
import { aiSdkBody } from './ai-sdk-body.ts'
import { canonicalBody } from './canonical-body.ts'
import { type BodyDifference, diffBodies, isInside, withoutPaths, withoutPositions } from './diff-bodies.ts'
import type { DifferenceContext, KnownDifference, Other } from './difference-rules.ts'
import { knownDifferences } from './known-differences.ts'
import { type OurBody, ourBody } from './our-body.ts'
import { type BodyContext, readBody } from './read-body.ts'
import type { RequestCall } from './request-call.ts'

/** A difference with the entry of the list that explains it; null: no entry does. */
export interface JudgedDifference {
  host: string
  against: Other
  difference: BodyDifference
  known: KnownDifference | null
}

export interface RequestResult {
  id: string
  /** The flavour in OpenAI's family, else the format. */
  host: string
  against: Other[]
  differences: JudgedDifference[]
  /** Paths of fields that Portico does not offer; the rest was compared. */
  notOffered: string[]
  /** Why the request could not be compared. */
  failure: string | null
}

export const hostOf = ({ format, flavour }: ProviderSettings): string =>
  format === 'openai' ? (flavour ?? 'openai') : format

/** Compares our request for a call with that of the AI SDK. */
export async function checkCall(id: string, settings: ProviderSettings, call: RequestCall): Promise<RequestResult> {
  const result = emptyResult(id, settings)
  const ours = ourBody(settings, call)
  if (ours === null) return { ...result, failure: 'the format has no embeddings' }
  await compareWithSdk(result, settings, call, ours)
  return result
}

/** A recorded body and its entry in the index. */
export interface RecordedBody {
  id: string
  settings: ProviderSettings
  kind: 'chat' | 'embeddings'
  body: JsonObject
  /** From the address, if the format has the model there. */
  model: string
  stream: boolean
}

/** Reads a recorded body back into its call, and compares our request for it with the record and with the AI SDK. */
export async function checkRecordedBody({
  id,
  settings,
  kind,
  body,
  model,
  stream,
}: RecordedBody): Promise<RequestResult> {
  const { format } = settings
  const theirs = canonicalBody(format, body)
  const { call, notOffered } = readBody(theirs, { format, kind, model, stream, ...factorsOf(settings) })
  const result = { ...emptyResult(id, settings), notOffered }
  let ours: OurBody | null
  try {
    ours = ourBody(settings, call)
  } catch (error) {
    // A call that we reject is never sent to the host.
    if (error instanceof ProviderError) return { ...result, notOffered: [...notOffered, `refused: ${error.message}`] }
    throw error
  }
  if (ours === null) return { ...result, failure: 'the format has no embeddings' }
  const offered = (canonical: JsonObject) => asObject(withoutPaths(canonical, notOffered))
  compare(result, 'recorded', { ours, call, bodies: [offered(canonicalBody(format, ours.body)), offered(theirs)] })
  await compareWithSdk(result, settings, call, ours)
  return result
}

async function compareWithSdk(result: RequestResult, settings: ProviderSettings, call: RequestCall, ours: OurBody) {
  const { format } = settings
  const theirs = await aiSdkBody(settings, call)
  if (theirs === null) return
  compare(result, 'ai-sdk', { ours, call, bodies: [canonicalBody(format, ours.body), canonicalBody(format, theirs)] })
}

function compare(
  result: RequestResult,
  against: Other,
  { ours, call, bodies }: { ours: OurBody; call: RequestCall; bodies: [JsonObject, JsonObject] },
) {
  result.against.push(against)
  for (const difference of diffBodies(...bodies)) {
    const context = { difference, host: result.host, call, ours, bodies }
    const known = knownDifferences.find((entry) => explains(entry, result.host, against, context)) ?? null
    result.differences.push({ host: result.host, against, difference, known })
  }
}

function explains(entry: KnownDifference, host: string, against: Other, context: DifferenceContext): boolean {
  const { path, ours, theirs } = context.difference
  const who = ours === undefined ? 'theirs' : theirs === undefined ? 'ours' : 'both'
  return (
    (entry.hosts === '*' || entry.hosts.includes(host)) &&
    entry.who.includes(who) &&
    (entry.against === undefined || entry.against === against) &&
    entry.paths.some((place) => isInside(withoutPositions(path), place)) &&
    (entry.holds?.(context) ?? true)
  )
}

function emptyResult(id: string, settings: ProviderSettings): RequestResult {
  return { id, host: hostOf(settings), against: [], differences: [], notOffered: [], failure: null }
}

/** Our adapter's value for 1 on our scale; a recorded number is divided by it. */
function factorsOf(settings: ProviderSettings): Pick<BodyContext, 'temperatureFactor' | 'penaltyFactor'> {
  const { format } = settings
  const unit = { temperatureFactor: 1, penaltyFactor: 1 }
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const request = { messages, temperature: 1, presencePenalty: 1 }
  const probe = ourBody(settings, { kind: 'chat', model: 'test-model', stream: false, request })
  const context = { format, kind: 'chat' as const, model: 'test-model', stream: false, ...unit }
  const read = readBody(canonicalBody(format, probe?.body ?? {}), context)
  const { temperature, presencePenalty } = asObject(asObject(read.call).request) as Record<string, number | undefined>
  return { temperatureFactor: temperature ?? 1, penaltyFactor: presencePenalty ?? 1 }
}
