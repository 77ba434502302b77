import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readJsonLines } from '../../test/harness/shared-data.ts'

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
  /** The plain baseline that index.json states. */
  statedBaseline: Record<string, unknown>
}

export function loadEvaluationSets(folder: string): EvaluationSet[] {
  const index = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as {
    sets: { name: string; dir: string; baseline?: Record<string, unknown> }[]
  }
  return index.sets.flatMap((set) => {
    const setFolder = path.join(folder, set.dir)
    const conversations = readOptional(path.join(setFolder, 'conversations.jsonl'))
    return conversations.length > 0
      ? loadConversations(set.name, setFolder, conversations, set.baseline ?? {})
      : [loadSet(set.name, setFolder, set.baseline ?? {})]
  })
}

/** The query of a conversation is its last turn, all turns of the person, or the rewritten question where it has one. */
function loadConversations(
  name: string,
  folder: string,
  conversations: Record<string, unknown>[],
  stated: Record<string, unknown>,
): EvaluationSet[] {
  const shared = {
    folder,
    corpus: readJsonLines<EvaluationSet['corpus'][number]>(path.join(folder, 'corpus.jsonl')),
    relevant: readJudgements(path.join(folder, 'qrels.tsv')),
    spans: [],
    files: [],
  }
  const said = (task: Record<string, unknown>) =>
    (task.turns as { role: string; content: string }[])
      .filter((turn) => turn.role === 'user')
      .map((turn) => turn.content)
  const forms = {
    last_turn: (task: Record<string, unknown>) => said(task).at(-1),
    all_user_turns: (task: Record<string, unknown>) => said(task).join('\n'),
    gold_rewrite: (task: Record<string, unknown>) => task.rewrite as string | null | undefined,
  }
  return Object.entries(forms).flatMap(([form, textOf]) => {
    const queries = conversations.flatMap((task) => {
      const text = textOf(task)
      return text ? [{ id: String(task.id), text }] : []
    })
    const statedBaseline = { ...(stated[form] as object | undefined), how: stated.how }
    return queries.length === 0
      ? []
      : [{ ...shared, name: `${name} (${form.replaceAll('_', ' ')})`, queries, statedBaseline }]
  })
}

function loadSet(name: string, folder: string, statedBaseline: Record<string, unknown>): EvaluationSet {
  const spans = readOptional(path.join(folder, 'spans.jsonl'))
  return {
    name,
    folder,
    corpus: readJsonLines(path.join(folder, 'corpus.jsonl')),
    queries: readJsonLines(path.join(folder, 'queries.jsonl')),
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

function readOptional(file: string): Record<string, unknown>[] {
  try {
    return readJsonLines(file)
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
