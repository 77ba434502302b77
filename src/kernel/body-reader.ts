import { type BodyLimits, scanJson } from './json-scan.ts'

/**
 * How a route reads its JSON body: limits, then the rules. Large bodies are read in a thread, which imports the reader from its
 * module, so that no request keeps the event loop busy.
 */
export interface BodyReader<Body = unknown> extends BodyLimits {
  /** `import.meta.url` of the module that exports the reader, and the name of the export. */
  module: string
  exportName: string
  /** Throws AppError. `ignored` names the fields that `shape` has cut out. What it returns must be cloneable. */
  read(value: unknown, ignored: string[]): Body
}

/** Throws AppError. Changes `bytes`. */
export function readJson<Body>(bytes: Buffer, reader: Pick<BodyReader<Body>, keyof BodyLimits | 'read'>): Body {
  const { length, ignored } = scanJson(bytes, reader)
  return reader.read(JSON.parse(bytes.toString('utf8', 0, length)), ignored)
}
