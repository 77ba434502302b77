import type { SpendLimit } from '../../gateway/billing/index.ts'
import { describeError, type Log, type OrganisationId, silentLog, type SpaceId } from '../../platform/kernel/index.ts'
import type { EmbeddingVersion } from './corpus/embedding-versions.store.ts'
import type { Embedder } from './embedders/embedder.ts'
import type { QueryVector } from './engine.ts'
import type { ContextText } from './lexical/weigh-context.ts'

/** Characters of a query that are embedded: more than any embedder's input. */
const maximumEmbeddedCharacters = 8_000
/** Most context texts that are embedded, those of the highest weight, and characters of each. They bound the time of a local model. */
const maximumEmbeddedTexts = 2
const maximumContextCharacters = 2_000

interface EmbedRequest {
  query: string
  context?: readonly ContextText[]
  organisationId: OrganisationId
  spaceId: SpaceId
  spending?: SpendLimit | undefined
  signal: AbortSignal
}

interface EmbedParts {
  embedders: ReadonlyMap<string, Embedder>
  log?: Log
}

/** The query as a vector of each live embedding version whose embedder answers. Next to a context: the weighted sum of their vectors. */
export async function embedQuery(
  { embedders, log = silentLog }: EmbedParts,
  request: EmbedRequest,
  embeddingVersions: readonly EmbeddingVersion[],
): Promise<QueryVector[]> {
  const { organisationId, spaceId, spending, signal } = request
  const parts = partsOf(request)
  const texts = parts.map(({ text }) => text)
  const vectors = await Promise.all(
    embeddingVersions.map(async (version): Promise<QueryVector | null> => {
      const embedder = embedders.get(version.embedderId)
      if (!embedder) {
        log.warn(
          { embedder: version.embedderId },
          'no embedder for an index that answers searches: lexical search only',
        )
        return null
      }
      try {
        const vector = weightedSum(
          await embedder.embed({ texts, purpose: 'query', organisationId, spaceId, spending, signal }),
          parts,
        )
        const hasSemantics = embedder.semantics !== false
        return vector?.some((value) => value !== 0) ? { version, vector, hasSemantics } : null
      } catch (error) {
        signal.throwIfAborted()
        log.warn(
          { embedder: embedder.id, error: describeError(error) },
          'the query could not be embedded: lexical search only',
        )
        return null
      }
    }),
  )
  return vectors.filter((vector) => vector !== null)
}

function partsOf({ query, context = [] }: EmbedRequest): ContextText[] {
  const heaviest = context.toSorted((left, right) => right.weight - left.weight).slice(0, maximumEmbeddedTexts)
  return [
    { text: shorten(query, maximumEmbeddedCharacters), weight: 1 },
    ...heaviest.map(({ text, weight }) => ({ text: shorten(text, maximumContextCharacters), weight })),
  ].filter(({ text }) => text !== '')
}

/** The beginning and the end of a long text: the question is usually in one of them. */
function shorten(text: string, maximumCharacters: number): string {
  if (text.length <= maximumCharacters) return text
  const half = maximumCharacters / 2
  return `${text.slice(0, half)}\n${text.slice(-half)}`.toWellFormed()
}

/** Some providers' vectors are not of length 1, so each counts by its direction. A single vector stays as it is. */
function weightedSum(vectors: readonly Float32Array[], parts: readonly ContextText[]): Float32Array | undefined {
  const [first] = vectors
  if (!first || vectors.length === 1) return first
  const sum = new Float32Array(first.length)
  for (const [part, vector] of vectors.entries()) {
    const share = parts[part]!.weight / (Math.hypot(...vector) || 1)
    for (let index = 0; index < sum.length; index++) sum[index]! += share * vector[index]!
  }
  const length = Math.hypot(...sum) || 1
  return sum.map((value) => value / length)
}
