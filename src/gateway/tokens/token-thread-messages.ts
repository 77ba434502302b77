import type { Vocabulary } from './vocabulary.ts'

/** Given to the thread at its start: the vocabulary where this process has loaded it before. */
export type TokenThreadData = Vocabulary | null

/** To the thread: texts to count. One batch at a time. */
export type ToTokenThread = string[]

/** From the thread: the vocabulary, once and first; then the counts of each batch. */
export type FromTokenThread = { type: 'vocabulary'; vocabulary: Vocabulary } | { type: 'counted'; counts: number[] }
