import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { decodeJsonObject, type JsonObject } from '../../src/gateway/providers/wire-json.ts'

/** One recorded answer of index.json; the README of the data folder describes the fields. */
export interface WireRecord {
  id: string
  provider: string
  /** The wire format; absent if the kind implies it (model lists, embeddings). */
  api?: string
  kind: 'nonstream' | 'stream' | 'error' | 'embeddings' | 'models'
  url?: string
  http_status: number
  content_type?: string
  headers?: Record<string, string>
  file: string
  /** The body that the recording client sent. */
  request_file?: string | null
  /** A failure inside a 200 answer. */
  during?: string
  /** Difficult offsets for splits: inside a UTF-8 sequence, a CRLF, a frame. */
  suggested_byte_splits?: number[]
  expected: WireExpectation
}

export interface WireExpectation {
  text?: string
  reasoning_text?: string
  refusal?: string | null
  finish_reason?: string
  /** In the compatible API's terms; null if the wire has none. */
  usage?: Record<string, number> | null
  tool_calls?: { name: string; arguments: unknown }[]
  error_class?: string
  retryable?: boolean
  message_contains?: string
  count?: number
  first_id?: string
  dimensions?: number
}

export interface WireIndex {
  records: WireRecord[]
  bodyOf(record: WireRecord): Uint8Array
  /** The recorded request of a record; null: the file is missing or does not contain a JSON object. */
  requestOf(record: WireRecord): JsonObject | null
}

/** Reads `FOLDER/index.json` or `FOLDER/wire/index.json`. Throws Error if neither exists or it is not an index. */
export function readWireIndex(folder: string): WireIndex {
  const root = [folder, path.join(folder, 'wire')].find((candidate) => existsSync(path.join(candidate, 'index.json')))
  if (root === undefined) throw new Error(`no index.json and no wire/index.json in ${folder}`)
  const index = JSON.parse(readFileSync(path.join(root, 'index.json'), 'utf8')) as { records?: unknown }
  if (!Array.isArray(index.records)) throw new Error(`${path.join(root, 'index.json')} has no list called records`)
  const placeOf = (file: string) => {
    const places = [root, folder, path.dirname(root)].map((place) => path.join(place, file))
    return places.find((place) => existsSync(place)) ?? places[0]!
  }
  return {
    records: index.records as WireRecord[],
    bodyOf: (record) => readFileSync(placeOf(record.file)),
    requestOf({ request_file: file }) {
      if (!file || !existsSync(placeOf(file))) return null
      return decodeJsonObject(readFileSync(placeOf(file))) ?? null
    },
  }
}
