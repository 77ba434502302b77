import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Sets of questions with known answers, in the format of the shared data folder `retrieval` (index.json). */

export interface EvaluationSet {
  name: string
  folder: string
  corpus: { id: string; title: string; text: string }[]
  queries: { id: string; text: string }[]
  /** Relevant documents of each query (score above 0). */
  relevant: Map<string, Set<string>>
  /** Exact passages that answer; empty where the set judges whole documents. */
  spans: { queryId: string; documentId: string; text: string }[]
  /** `files/*.md` of span sets, by name without the ending. */
  files: { id: string; path: string }[]
  /** What index.json states as a plain baseline. */
  statedBaseline: Record<string, unknown>
}

export function loadEvaluationSets(folder: string): EvaluationSet[] {
  const index = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as {
    sets: { name: string; dir: string; baseline?: Record<string, unknown> }[]
  }
  return index.sets.map((set) => loadSet(set.name, path.join(folder, set.dir), set.baseline ?? {}))
}

function loadSet(name: string, folder: string, statedBaseline: Record<string, unknown>): EvaluationSet {
  const spans = readOptional(path.join(folder, 'spans.jsonl'))
  return {
    name,
    folder,
    corpus: readLines(path.join(folder, 'corpus.jsonl')),
    queries: readLines(path.join(folder, 'queries.jsonl')),
    relevant: readJudgements(path.join(folder, 'qrels.tsv')),
    spans: spans.map((span) => ({
      queryId: String(span.query_id),
      documentId: String(span.doc_id),
      text: String(span.text),
    })),
    files: listFiles(path.join(folder, 'files')),
    statedBaseline,
  }
}

function readLines<Row>(file: string): Row[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Row)
}

function readOptional(file: string): Record<string, unknown>[] {
  try {
    return readLines(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function readJudgements(file: string): Map<string, Set<string>> {
  const relevant = new Map<string, Set<string>>()
  for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
    const [query, document, score] = line.split('\t')
    if (query === undefined || document === undefined || Number(score) <= 0) continue
    relevant.set(query, (relevant.get(query) ?? new Set()).add(document))
  }
  return relevant
}

function listFiles(folder: string): { id: string; path: string }[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .map((file) => ({ id: file.slice(0, -3), path: path.join(folder, file) }))
  } catch {
    return []
  }
}
