import type { UrlCitation } from '../port.ts'
import { asCount, asName, asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'
import { encodeToolCallId } from './tool-call-id.ts'

/** Content of one GenerateContentResponse, whole or a chunk of a stream. */
export interface CandidateReading {
  text: string
  reasoningText: string
  toolCalls: { id: string; name: string; argumentsJson: string }[]
  /** The finish reason of the candidate, or the reason why the prompt was blocked. */
  finishReason: string | null
  promptBlocked: boolean
  /** Sources of grounding with Google Search. Places are bytes of the whole text. */
  citations: UrlCitation[]
}

/** Reads the first candidate; `toolCallsBefore` numbers calls across the chunks of a stream. */
export function readCandidate(response: JsonObject, toolCallsBefore: number): CandidateReading {
  const candidate = asObjects(response.candidates)[0]
  const blockReason = asName(asObject(response.promptFeedback).blockReason)
  const reading: CandidateReading = {
    text: '',
    reasoningText: '',
    toolCalls: [],
    finishReason: asName(candidate?.finishReason) ?? blockReason,
    promptBlocked: blockReason !== null,
    citations: readGrounding(asObject(candidate?.groundingMetadata)),
  }
  for (const part of asObjects(asObject(candidate?.content).parts)) {
    if (part.functionCall !== undefined) {
      const call = asObject(part.functionCall)
      const index = toolCallsBefore + reading.toolCalls.length
      reading.toolCalls.push({
        id: encodeToolCallId(part, call, asString(response.responseId), index),
        name: asString(call.name),
        argumentsJson: JSON.stringify(asObject(call.args)),
      })
    } else if (part.thought === true) reading.reasoningText += asString(part.text)
    else reading.text += asString(part.text)
  }
  return reading
}

/** Upper bound on cited places; an answer has about a dozen. */
const maximumCitations = 100

/** Places of citations in UTF-16 units of the whole text; Google counts bytes of UTF-8. */
export function placeCitations(citations: UrlCitation[], text: string): UrlCitation[] {
  const bytes = Buffer.from(text)
  if (citations.length === 0 || bytes.length === text.length) return citations
  const places = new Map<number, number>()
  const placeOf = (offset: number) => {
    const known = places.get(offset)
    if (known !== undefined) return known
    const place = bytes.toString('utf8', 0, offset).length
    places.set(offset, place)
    return place
  }
  return citations.map((citation) => ({
    ...citation,
    startIndex: placeOf(citation.startIndex),
    endIndex: placeOf(citation.endIndex),
  }))
}

/** Each part of the text with a source that supports it; if no parts are named, the sources alone. Offsets count UTF-8 bytes there. */
function readGrounding(metadata: JsonObject): UrlCitation[] {
  const sources = asObjects(metadata.groundingChunks).map((chunk) => asObject(chunk.web ?? chunk.retrievedContext))
  const cite = (source: JsonObject | undefined, segment: JsonObject): UrlCitation[] => {
    const url = asString(source?.uri)
    if (!/^https?:\/\//i.test(url)) return []
    const title = asString(source?.title) || url
    return [{ url, title, startIndex: asCount(segment.startIndex) ?? 0, endIndex: asCount(segment.endIndex) ?? 0 }]
  }
  const supported = asObjects(metadata.groundingSupports).flatMap((support) => {
    const indices = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : []
    return indices.flatMap((index) => cite(sources[Number(index)], asObject(support.segment)))
  })
  const found = supported.length > 0 ? supported : sources.flatMap((source) => cite(source, {}))
  return found.slice(0, maximumCitations)
}
