import { type CacheMark, type ContentPart, isParts, type MessageContent } from '../../conversation/index.ts'
import { isBlankText } from '../../../platform/bodies/index.ts'
import { lookUp } from '../../../platform/kernel/index.ts'
import { refusedPart, subtypeOf } from '../media.ts'
import type { JsonObject } from '../wire-json.ts'

/** Blank text blocks are refused, so a blank text becomes no block. Media are bytes: Converse fetches from Amazon's storage only. */
export function toBlocksOfContent(content: MessageContent): JsonObject[] {
  if (!isParts(content)) return isBlankText(content) ? [] : [{ text: content }]
  const names = new Set<string>()
  const blocks = content.flatMap((part) => toBlocks(part, names))
  // Converse refuses a document without a text in the same turn.
  const needsText =
    blocks.some(({ document }) => document !== undefined) && !blocks.some(({ text }) => text !== undefined)
  return needsText ? [...blocks, { text: [...names].join(', ') }] : blocks
}

function toBlocks(part: ContentPart, names: Set<string>): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [...(isBlankText(part.text) ? [] : [{ text: part.text }]), ...toCachePoint(part.cache)]
    case 'refusal':
      return isBlankText(part.text) ? [] : [{ text: part.text }]
    case 'audio':
      throw refusedPart(part)
    case 'image':
    case 'file': {
      if (part.source.kind === 'url') throw refusedPart(part)
      const { mediaType, data } = part.source
      const source = { bytes: data }
      const subtype = subtypeOf(mediaType)
      const block =
        part.type === 'image'
          ? { image: { format: subtype === 'jpg' ? 'jpeg' : subtype, source } }
          : {
              document: {
                format: lookUp(documentFormats, subtype) ?? subtype,
                name: documentName(part.name, names),
                source,
              },
            }
      return [block, ...toCachePoint(part.cache)]
    }
  }
}

export function toCachePoint(mark: CacheMark | undefined): JsonObject[] {
  return mark ? [{ cachePoint: { type: 'default', ...(mark.ttl !== undefined && { ttl: mark.ttl }) } }] : []
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html */
const documentFormats: Readonly<Record<string, string>> = {
  plain: 'txt',
  markdown: 'md',
  msword: 'doc',
  'vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'vnd.ms-excel': 'xls',
  'vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
}

/** Unique; letters, digits, single spaces, hyphens, parentheses and brackets only. */
function documentName(name: string | undefined, names: Set<string>): string {
  const plain = (name ?? 'document')
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replaceAll(/[^a-zA-Z0-9\-()[\]]+/g, ' ')
    .trim()
    .slice(0, 190)
  let unique = plain || 'document'
  for (let number = 2; names.has(unique); number++) unique = `${plain || 'document'} ${number}`
  names.add(unique)
  return unique
}
