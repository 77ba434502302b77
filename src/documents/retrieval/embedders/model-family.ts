/** The inputs that a sentence-embedding model expects, and how its output becomes a vector. */
export interface ModelFamily {
  /** Which token vectors of a text become the vector of the text. */
  pooling: 'mean' | 'cls' | 'last'
  queryPrefix: string
  passagePrefix: string
}

/** The files next to the weights that describe how a model was trained (Sentence Transformers' layout); all optional. */
export interface ModelFiles {
  /** config.json */
  config: Record<string, unknown>
  /** 1_Pooling/config.json */
  pooling: Record<string, unknown> | null
  /** config_sentence_transformers.json */
  sentenceTransformers: Record<string, unknown> | null
}

const searchInstruction = 'Represent this sentence for searching relevant passages: '

/** By name, where the files have no such setting: from the model cards of these families, 2026. The first match counts. */
const families: { name: RegExp; family: ModelFamily }[] = [
  { name: /e5-.*instruct/, family: mean('Instruct: Given a question, retrieve passages that answer it\nQuery: ', '') },
  { name: /\be5-|[-_/]e5[-_]/, family: mean('query: ', 'passage: ') },
  { name: /bge-m3/, family: cls('', '') },
  { name: /bge-.*zh/, family: cls('为这个句子生成表示以用于检索相关文章：', '') },
  { name: /bge-/, family: cls(searchInstruction, '') },
  { name: /arctic-embed-.*v2/, family: cls('query: ', '') },
  { name: /arctic-embed/, family: cls(searchInstruction, '') },
  { name: /mxbai-embed/, family: cls(searchInstruction, '') },
  { name: /nomic-embed/, family: mean('search_query: ', 'search_document: ') },
  { name: /embeddinggemma/, family: mean('task: search result | query: ', 'title: none | text: ') },
  { name: /granite-embedding/, family: cls('', '') },
  { name: /gte-(base|large).*v1\.5|gte-multilingual/, family: cls('', '') },
  {
    name: /qwen3-embedding/,
    family: {
      pooling: 'last',
      queryPrefix: 'Instruct: Given a question, retrieve passages that answer it\nQuery:',
      passagePrefix: '',
    },
  },
]

/** Settings by the model's files, else by its name, else mean pooling without prefixes (MiniLM, gte, jina and most). */
export function familyOfModel(name: string, files: ModelFiles): ModelFamily {
  const byName = families.find((candidate) => candidate.name.test(name.toLowerCase()))?.family ?? mean('', '')
  return {
    pooling: poolingOf(files.pooling) ?? byName.pooling,
    queryPrefix:
      promptOf(files.sentenceTransformers, ['query', 'search_query', 'Retrieval-query']) ?? byName.queryPrefix,
    passagePrefix:
      promptOf(files.sentenceTransformers, ['document', 'passage', 'search_document', 'Retrieval-document']) ??
      byName.passagePrefix,
  }
}

function poolingOf(pooling: ModelFiles['pooling']): ModelFamily['pooling'] | undefined {
  if (pooling?.['pooling_mode_cls_token'] === true) return 'cls'
  if (pooling?.['pooling_mode_lasttoken'] === true) return 'last'
  if (pooling?.['pooling_mode_mean_tokens'] === true) return 'mean'
  return undefined
}

function promptOf(settings: ModelFiles['sentenceTransformers'], names: readonly string[]): string | undefined {
  const prompts = settings?.['prompts']
  if (typeof prompts !== 'object' || prompts === null) return undefined
  for (const name of names) {
    const prompt = (prompts as Record<string, unknown>)[name]
    // Newer versions write empty prompts for every model, which mean nothing.
    if (typeof prompt === 'string' && prompt !== '') return prompt
  }
  return undefined
}

function mean(queryPrefix: string, passagePrefix: string): ModelFamily {
  return { pooling: 'mean', queryPrefix, passagePrefix }
}

function cls(queryPrefix: string, passagePrefix: string): ModelFamily {
  return { pooling: 'cls', queryPrefix, passagePrefix }
}
