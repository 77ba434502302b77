import { z } from 'zod'
import { metadataFilterSchema } from './metadata-filter.ts'

/** The retrieval tester: the search of a Space's chat, with the reasons for each result. */

const maximumTurns = 50
/** Characters of one turn; a question of a person is far shorter. */
const maximumTurnCharacters = 10_000
export const maximumExplainedCandidates = 50

export const spaceSearchSchema = z
  .object({
    messages: z
      .array(z.object({ role: z.enum(['user', 'assistant']), content: z.string().max(maximumTurnCharacters) }))
      .min(1)
      .max(maximumTurns)
      .refine((messages) => messages.at(-1)?.role === 'user', { error: 'must end with a message of the role `user`' })
      .describe('The conversation, or one question.'),
    filter: metadataFilterSchema.nullish(),
    candidates: z
      .int()
      .min(1)
      .max(maximumExplainedCandidates)
      .default(20)
      .describe('Most candidates to explain; the passages for the model are always among the best.'),
  })
  .meta({ id: 'SpaceSearchRequest' })

/** Longest query of the search of a published Space, UTF-16 units. */
const maximumQueryCharacters = 10_000

export const publishedSearchSchema = z
  .strictObject({
    query: z
      .string()
      .max(maximumQueryCharacters)
      .regex(/\S/, 'must not be blank')
      .describe('One question, or some words.'),
    limit: z.int().min(1).max(50).default(10).describe('Most passages.'),
    filter: metadataFilterSchema.nullish(),
  })
  .meta({ id: 'PublishedSearchRequest' })

const foundPassageSchema = z
  .object({
    documentId: z.uuid(),
    title: z.string().describe("The document's name."),
    url: z.string().optional().describe("The document's `metadata.url`; absent if it has none."),
    text: z.string(),
    heading: z.string().optional().describe('The headings above the passage, outermost first, joined with ` > `.'),
    tableHeader: z.string().optional().describe('Of the table that the rows are from.'),
    pages: z.object({ from: z.int(), to: z.int() }).optional(),
    rows: z.object({ from: z.int(), to: z.int() }).optional(),
    start: z.int().describe("Start in the document's extracted text, in Unicode code points."),
    end: z.int().describe('End, exclusive.'),
    score: z.number().describe('0..1, comparable within one response.'),
  })
  .meta({ id: 'FoundPassage' })

export const publishedSearchResultSchema = z
  .object({ passages: z.array(foundPassageSchema).describe('The best first.') })
  .meta({ id: 'PublishedSearchResult' })

export type FoundPassage = z.output<typeof foundPassageSchema>

const share = z.number().min(0).max(1)

const scores = z.object({
  score: z.number(),
  rank: z.int().describe('Among the candidates, from 1.'),
  share: share.describe('Scaled to 0..1 among the candidates.'),
})

/** Why a candidate is not in the model's context: a closed list. */
export const candidateOutcomes = ['used', 'below_limit', 'repeat', 'token_limit', 'context_limit'] as const

/** What a reranker did in a search. */
export const rerankOutcomes = ['reranked', 'timeout', 'failed', 'resting', 'skipped'] as const

const explainedCandidateSchema = z
  .object({
    rank: z.int().describe('Of the search, from 1: by the reranker, then by the fused score.'),
    fusedRank: z.int().describe('By the fused score, from 1: the rank without a reranker.'),
    rerankScore: z
      .number()
      .nullable()
      .describe('How well the passage answers the question, as the reranker scores it; null if it was not compared.'),
    outcome: z
      .enum(candidateOutcomes)
      .describe(
        '`used`: the model receives it. Else why not: `below_limit` (beyond the passages of the Space), `repeat` (the text of a better one), `token_limit` (no room in the tokens of passages of the Space), `context_limit` (no room in the context of the model).',
      ),
    number: z
      .int()
      .nullable()
      .describe(
        'The number of the passage in the context; null if it is not used. Candidates of one joined passage have the same number.',
      ),
    documentId: z.uuid(),
    documentName: z.string(),
    chunkIndex: z.int(),
    pageFrom: z.int().nullable(),
    pageTo: z.int().nullable(),
    rowFrom: z.int().nullable(),
    rowTo: z.int().nullable(),
    characterFrom: z.int().describe('Range in the extracted text, in code points.'),
    characterTo: z.int(),
    headingPath: z.array(z.string()),
    tableHeader: z.string().nullable(),
    text: z.string(),
    score: share.describe('The fused score.'),
    lexical: scores.nullable().describe('BM25; null if no word of the query is in it.'),
    vector: scores.nullable().describe('Cosine similarity; null if it is not known.'),
  })
  .meta({ id: 'ExplainedCandidate' })

const milliseconds = z.number().min(0)

export const spaceSearchResultSchema = z
  .object({
    query: z.object({
      text: z.string().describe('The last question.'),
      context: z
        .array(z.object({ text: z.string(), weight: share.describe('Where a word of the question has 1.') }))
        .describe('The earlier turns whose words were searched as well. Words of a long turn weigh less.'),
      isRewritten: z
        .boolean()
        .describe(
          'In a chat the model rewrites this question, and the rewritten question is searched as well. This search leaves that out, because it would be billed.',
        ),
      words: z
        .array(z.object({ word: z.string(), weight: z.number() }))
        .describe('The words that were compared, those of the question first; at most 100.'),
    }),
    model: z.string().describe('The model whose context the passages must fit into.'),
    isWhole: z
      .boolean()
      .describe(
        'All files of the Space have at most `wholeSpaceTokens`: the chat gives them to the model whole, in the order of their names, and does not search. The candidates then only show how a search would rank them.',
      ),
    limits: z
      .object({ passages: z.int(), tokens: z.int(), wholeSpaceTokens: z.int() })
      .describe('Of the passages of one search, and of files that are given whole.'),
    embedders: z
      .array(z.object({ label: z.string(), hasSemantics: z.boolean() }))
      .describe('Whose vectors were compared; empty: words only.'),
    vectorWeight: share.describe('The share of the vectors in the fused score.'),
    vectorShare: z
      .object({
        origin: z
          .enum(['given', 'spelling', 'start', 'checked'])
          .describe(
            '`spelling`: fixed for the built-in embedder. `checked`: chosen by questions that Portico made from passages of this Space. `start`: no choice yet, or too few passages for one. `given`: by the caller.',
          ),
        questions: z.int().describe('Questions of the choice; 0 without one.'),
        lexicalRank: share
          .nullable()
          .describe('Mean reciprocal rank of the passage that a question was made from, by words alone.'),
        fusedRank: share.nullable().describe('The same with the chosen share.'),
      })
      .describe(
        'How the share was chosen. Where only words or only vectors found something, `vectorWeight` is 0 or 1.',
      ),
    candidateCount: z.int().describe('Chunks of the lexical search and of the vector search together.'),
    reranking: z
      .object({
        label: z.string(),
        text: z.string().describe('The question that was compared with the passages.'),
        outcome: z
          .enum(rerankOutcomes)
          .describe(
            '`reranked`: the order of the reranker is used. Else why the order of the fused scores is: `timeout`, `failed`, `resting` (skipped for up to a minute after several failures), `skipped` (fewer than two different passages).',
          ),
        passages: z.int().describe('Passages that have a score.'),
      })
      .nullable()
      .describe('null: no reranker is configured.'),
    candidates: z.array(explainedCandidateSchema).describe('The best first.'),
    passages: z
      .array(
        z.object({
          number: z.int(),
          documentId: z.uuid(),
          documentName: z.string(),
          chunks: z
            .array(
              z.object({
                chunkIndex: z.int(),
                isFound: z
                  .boolean()
                  .describe('The search found it. Others are neighbours of the best one, or come with whole files.'),
              }),
            )
            .describe('More than one: neighbours in the document, joined without repeated text.'),
        }),
      )
      .describe('The passages that the model receives, and the chunks in them.'),
    context: z.string().describe('The passages as the model receives them; empty if nothing was found.'),
    timings: z
      .object({
        prepare: milliseconds.describe('Check of the model and of its context.'),
        open: milliseconds.describe('State of the Space.'),
        analyse: milliseconds.describe('Words of the query.'),
        embed: milliseconds.describe('Vector of the query.'),
        candidates: milliseconds.describe('Search by words and by vectors.'),
        rank: milliseconds.describe('Fusion of the scores.'),
        passages: milliseconds.describe('Texts of the best candidates.'),
        rerank: milliseconds.describe('Comparison of the best with the question by the reranker.'),
        pack: milliseconds.describe('Choice of the passages that fit.'),
        total: milliseconds,
      })
      .describe('Milliseconds. The total includes the explanation itself.'),
  })
  .meta({ id: 'SpaceSearchResult' })

export type SpaceSearchResult = z.output<typeof spaceSearchResultSchema>
export type ExplainedCandidateBody = z.output<typeof explainedCandidateSchema>
export type SpaceSearchRequest = z.output<typeof spaceSearchSchema>
