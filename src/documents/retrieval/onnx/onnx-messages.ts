/** Messages between the main thread and the model's thread. */

export interface OnnxWorkerSettings {
  /** The absolute folder of the model. */
  folder: string
  /** The absolute path of the weights in it. */
  weights: string
  threads: number
  /** From the model's own files; texts are cut to it. */
  maximumTokens: number
  task: OnnxTask
}

export type OnnxTask =
  | {
      kind: 'embed'
      pooling: 'mean' | 'cls' | 'last'
      /** Keep this many first dimensions (Matryoshka models); null: all. */
      dimensions: number | null
    }
  | { kind: 'rerank' }

/** One batch: texts, or a query with documents. */
export type OnnxWork = { texts: string[] } | { query: string; documents: string[] }

export interface OnnxRequest {
  id: number
  work: OnnxWork
}

export type OnnxReply =
  | { type: 'ready'; dimensions: number }
  | { type: 'failed'; message: string }
  /** All vectors of the request in a row, or one score for each document. */
  | { type: 'values'; id: number; values: Float32Array }
  | { type: 'error'; id: number; message: string }
