import { type BodyFormat, JsonText, type LiteralCounts } from '../bodies/index.ts'
import type { ErrorCode } from '../kernel/index.ts'

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

/** A `JsonText` in a message. A body from JSON has no other map. */
type PackedText = Map<'slices' | 'counts', Uint8Array[] | LiteralCounts>

/** Replaces each `JsonText`, so that its bytes move to another thread. `memory`: what is to be moved. */
export function packTexts(body: unknown): { packed: unknown; memory: ArrayBuffer[] } {
  const memory = new Set<ArrayBuffer>()
  const pack = (text: JsonText): PackedText => {
    for (const { buffer } of text.slices) memory.add(buffer as ArrayBuffer)
    // A Buffer would arrive as such an array.
    const slices = text.slices.map(({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length))
    return new Map<'slices' | 'counts', Uint8Array[] | LiteralCounts>([
      ['slices', slices],
      ['counts', text.counts],
    ])
  }
  const packed = replace(body, (value) => (value instanceof JsonText ? pack(value) : undefined))
  return { packed, memory: [...memory] }
}

/** The body of a message, with its texts. */
export function unpackTexts(packed: unknown): unknown {
  return replace(packed, (value) => {
    if (!(value instanceof Map)) return undefined
    const slices = (value.get('slices') as Uint8Array[]).map(({ buffer, byteOffset, length }) =>
      Buffer.from(buffer, byteOffset, length),
    )
    return new JsonText(slices, value.get('counts') as LiteralCounts)
  })
}

function replace(value: unknown, replacement: (value: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const replaced = replacement(value)
  if (replaced !== undefined) return replaced
  const members = value as Record<string, unknown>
  for (const name in members) {
    const member = replace(members[name], replacement)
    if (member !== members[name]) members[name] = member
  }
  return value
}
