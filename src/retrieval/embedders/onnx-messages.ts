/** What the main thread and the model's thread say to each other. */

export interface OnnxWorkerSettings {
  /** An absolute folder, or a hub id. */
  model: string
  cacheFolder: string | null
  allowDownload: boolean
  /** Which weights: `onnx/model.onnx` is fp32, `onnx/model_quantized.onnx` q8, … Undefined: the first that is there, or q8 from the hub. */
  dtype: string | undefined
  threads: number
  /** From the model's own files; texts are cut to it. */
  maximumTokens: number
  pooling: 'mean' | 'cls' | 'last'
  /** Keep this many first dimensions (Matryoshka models); null: all. */
  dimensions: number | null
}

export interface OnnxRequest {
  id: number
  texts: string[]
}

export type OnnxReply =
  | { type: 'ready'; dimensions: number }
  | { type: 'failed'; message: string }
  /** All vectors of the request one behind the other. */
  | { type: 'vectors'; id: number; values: Float32Array }
  | { type: 'error'; id: number; message: string }
