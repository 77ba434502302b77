/** What a model is for, listed once: answers, vectors of texts, or comparing passages with a question. Only chat models are listed to clients. */
export const modelKinds = ['chat', 'embedding', 'rerank'] as const

export type ModelKind = (typeof modelKinds)[number]
