import type { BodyFormat, ErrorCode } from '../kernel/index.ts'

/** Messages between body-thread.ts and body-worker.ts. */
export interface BodyTask {
  module: string
  exportName: string
  format: BodyFormat
  bytes: Uint8Array<ArrayBuffer>
}

export type BodyResult =
  | { body: unknown }
  | { refused: { code: ErrorCode; message: string; param: string | null } }
  | { failed: string }
