import type { CacheMark, ContentPart, FilePart } from '../../conversation/index.ts'
import { isBlankText, textOf } from '../../../platform/bodies/index.ts'
import { refusedPart, subtypeOf } from '../media.ts'
import type { JsonObject } from '../wire-json.ts'

/** The API refuses blank text blocks, so a blank text becomes no block. */
export function toBlocksOfParts(parts: readonly ContentPart[]): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
        return isBlankText(part.text) ? [] : [{ type: 'text', text: part.text, ...toCacheMark(part.cache) }]
      case 'refusal':
        return isBlankText(part.text) ? [] : [{ type: 'text', text: part.text }]
      case 'image':
        return [{ type: 'image', source: toSource(part), ...toCacheMark(part.cache) }]
      case 'file':
        return [{ type: 'document', source: toDocumentSource(part), ...toTitle(part), ...toCacheMark(part.cache) }]
      case 'audio':
        throw refusedPart(part)
    }
  })
}

export function toCacheMark(mark: CacheMark | undefined): JsonObject | undefined {
  return mark && { cache_control: { type: 'ephemeral', ...(mark.ttl !== undefined && { ttl: mark.ttl }) } }
}

function toSource({ source }: Extract<ContentPart, { source: unknown }>): JsonObject {
  return source.kind === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.data }
}

/** Documents are PDF files or plain text; the API takes the latter decoded. */
function toDocumentSource(part: FilePart): JsonObject {
  const { source } = part
  if (source.kind === 'url' || subtypeOf(source.mediaType) === 'pdf') return toSource(part)
  if (!source.mediaType.startsWith('text/')) throw refusedPart(part)
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(textOf(source.data), 'base64').toString('utf8') }
}

function toTitle({ name }: FilePart): JsonObject | undefined {
  return name === undefined ? undefined : { title: name }
}
