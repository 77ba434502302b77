import { maximumMetadataBytes } from '../../contract/documents.ts'
import { invalidField } from '../../platform/kernel/index.ts'
import { memberTexts, type Metadata, readMetadata } from './document-metadata.ts'

/** A change of some top-level keys of metadata. Other keys keep their values and their order. */
export interface MetadataChange {
  /** The JSON text of each new value. */
  set: ReadonlyMap<string, string>
  remove: readonly string[]
}

/** Parses a request. `setText` is a JSON object with the limits of metadata. Throws AppError with the field `set` or `remove`. */
export function readMetadataChange(setText: string | undefined, remove: readonly string[]): MetadataChange {
  const set = memberTexts(setText === undefined ? '{}' : readMetadata(setText, 'set').json)
  if (set.size === 0 && remove.length === 0) {
    throw invalidField('set', 'The request body must have a key in `set` or in `remove`.')
  }
  if (remove.some((key) => set.has(key))) {
    throw invalidField('remove', '`remove` must not have a key of `set`.')
  }
  return { set, remove }
}

/** As JSON text, in which numbers keep all of their digits. */
export function writeMetadataChange({ set, remove }: MetadataChange): string {
  return `{"set":${writeObject(set)},"remove":${JSON.stringify(remove)}}`
}

/** Reads what writeMetadataChange returns. */
export function parseMetadataChange(text: string): MetadataChange {
  const members = memberTexts(text)
  return { set: memberTexts(members.get('set') ?? '{}'), remove: JSON.parse(members.get('remove') ?? '[]') as string[] }
}

/** The metadata after the change. `json` is the text of the metadata before; null if there was none. */
export function changeMetadata(
  json: string | null,
  { set, remove }: MetadataChange,
): { kind: 'changed'; metadata: Metadata } | { kind: 'unchanged' } | { kind: 'too_large' } {
  if (json === null && set.size === 0) return { kind: 'unchanged' }
  const members = memberTexts(json ?? '{}')
  for (const key of remove) members.delete(key)
  for (const [key, value] of set) members.set(key, value)
  const text = writeObject(members)
  if (text === json) return { kind: 'unchanged' }
  if (Buffer.byteLength(text) > maximumMetadataBytes) return { kind: 'too_large' }
  return { kind: 'changed', metadata: readMetadata(text) }
}

function writeObject(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}
