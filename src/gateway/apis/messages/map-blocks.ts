import type { BlockOf, ContentBlockBody } from '../../../contract/gateway-v2-messages.ts'
import type { ContentPart, MediaSource, TextPart } from '../../providers/index.ts'
import { type FieldPath, unsupported } from '../limits.ts'
import { readBase64, readWebAddress } from '../media.ts'
import { toCacheMark } from './cache-mark.ts'

type ShownBlock = BlockOf<'text' | 'image' | 'document' | 'search_result'>
type ResultBlock = Exclude<NonNullable<BlockOf<'tool_result'>['content']>, string>[number]

/** Reports a field that only hosts of this API have. */
export type OnlyNative = (path: FieldPath) => void

export function isShown(block: ContentBlockBody | ResultBlock): block is ShownBlock {
  return block.type === 'text' || block.type === 'image' || block.type === 'document' || block.type === 'search_result'
}

/** A block that every model can read, as parts of a message. Throws AppError. */
export function toParts(block: ShownBlock, path: FieldPath, only: OnlyNative): ContentPart[] {
  switch (block.type) {
    case 'text':
      return [toTextPart(block)]
    case 'image':
      return [{ type: 'image', source: toSource(block.source, path), ...marked(block) }]
    case 'document':
      return documentParts(block, path, only)
    case 'search_result': {
      if (block.citations?.enabled) only([...path, 'citations'])
      const text = block.content.map((part) => part.text).join('\n')
      return [{ type: 'text', text: fenced('search_result', block, text), ...marked(block) }]
    }
  }
}

export function toTextPart(block: Pick<BlockOf<'text'>, 'text' | 'cache_control'>): TextPart {
  return { type: 'text', text: block.text, ...marked(block) }
}

const marked = ({ cache_control }: Pick<ShownBlock, 'cache_control'>) => {
  const cache = toCacheMark(cache_control)
  return cache ? { cache } : {}
}

function documentParts(block: BlockOf<'document'>, path: FieldPath, only: OnlyNative): ContentPart[] {
  if (block.citations?.enabled) only([...path, 'citations'])
  const { source, title, context } = block
  if (source.type === 'text') return [{ type: 'text', text: fenced('document', block, source.data), ...marked(block) }]
  if (source.type === 'content') {
    const { content } = source
    if (typeof content === 'string')
      return [{ type: 'text', text: fenced('document', block, content), ...marked(block) }]
    const inner = content.flatMap((entry, index) => toParts(entry, [...path, 'source', 'content', index], only))
    const close = { type: 'text' as const, text: `\n</document>`, ...marked(block) }
    return [{ type: 'text', text: opening('document', block) }, ...inner, close]
  }
  const about: TextPart[] = context === undefined ? [] : [{ type: 'text', text: context }]
  const name = title === undefined ? {} : { name: title }
  return [...about, { type: 'file', source: toSource(source, path), ...name, ...marked(block) }]
}

interface Described {
  title?: string | undefined
  source?: unknown
  context?: string | undefined
}

/** A text with its title, source and context, for models that have no block for them. */
function fenced(tag: 'document' | 'search_result', block: Described, text: string): string {
  return `${opening(tag, block)}${text}\n</${tag}>`
}

function opening(tag: string, { title, source, context }: Described): string {
  const named = title === undefined ? '' : ` title=${JSON.stringify(title)}`
  const from = typeof source === 'string' ? ` source=${JSON.stringify(source)}` : ''
  return `<${tag}${named}${from}>\n${context === undefined ? '' : `${context}\n`}`
}

type Source = BlockOf<'image'>['source'] | Exclude<BlockOf<'document'>['source'], { type: 'text' | 'content' }>

/** Throws AppError. */
function toSource(source: Source, path: FieldPath): MediaSource {
  switch (source.type) {
    case 'base64':
      return readBase64(source.media_type, source.data, [...path, 'source', 'data'])
    case 'url':
      return readWebAddress(source.url, [...path, 'source', 'url'])
    case 'file':
      throw unsupported(
        [...path, 'source', 'type'],
        "files of the provider's account are not offered; send the bytes as `base64`, or a `url`",
      )
  }
}
