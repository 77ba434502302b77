import { lookUp } from '../../../platform/kernel/index.ts'
import { type ContentPart, isParts, type MessageContent, textOfContent } from '../../conversation/index.ts'
import { addressOf, isMedia, refusedPart, subtypeOf } from '../media.ts'
import type { JsonObject } from '../wire-json.ts'
import type { FlavourName } from './flavours.ts'

/** Hosts that forward marks for the prompt cache of other providers. */
const marksCache: ReadonlySet<FlavourName> = new Set(['openrouter', 'vercel'])
/** Hosts that know a part for a declined answer; others get it as text. */
const knowsRefusals: ReadonlySet<FlavourName> = new Set(['openai', 'azure'])

/** Content on the wire: one text where it has nothing else, because many hosts accept parts of user messages only. */
export function toWireContent(content: MessageContent, host: FlavourName): unknown {
  if (!isParts(content)) return content
  const plain = (part: ContentPart) =>
    (part.type === 'text' && (!part.cache || !marksCache.has(host))) ||
    (part.type === 'refusal' && !knowsRefusals.has(host))
  if (content.every(plain)) return textOfContent(content)
  return content.map((part) => toWirePart(part, host))
}

function toWirePart(part: ContentPart, host: FlavourName): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...(part.cache && marksCache.has(host) && toCacheControl(part.cache)) }
    case 'refusal':
      return knowsRefusals.has(host) ? { type: 'refusal', refusal: part.text } : { type: 'text', text: part.text }
    case 'image':
      return {
        type: 'image_url',
        image_url: { url: addressOf(part.source), ...(part.detail !== undefined && { detail: part.detail }) },
      }
    case 'file':
      if (host === 'mistral') return { type: 'document_url', document_url: addressOf(part.source) }
      return { type: 'file', file: { filename: part.name ?? defaultFileName, file_data: addressOf(part.source) } }
    case 'audio':
      return toWireAudio(part, host)
  }
}

/** OpenAI refuses a file without a name. */
const defaultFileName = 'document.pdf'

const audioFormats: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  mp3: 'mp3',
  'x-wav': 'wav',
  wave: 'wav',
  wav: 'wav',
}

function toWireAudio(part: ContentPart & { type: 'audio' }, host: FlavourName): JsonObject {
  const { source } = part
  if (host === 'mistral') return { type: 'input_audio', input_audio: source.kind === 'url' ? source.url : source.data }
  if (source.kind === 'url') throw refusedPart(part)
  const subtype = subtypeOf(source.mediaType)
  return { type: 'input_audio', input_audio: { data: source.data, format: lookUp(audioFormats, subtype) ?? subtype } }
}

function toCacheControl({ ttl }: { ttl?: string }): JsonObject {
  return { cache_control: { type: 'ephemeral', ...(ttl !== undefined && { ttl }) } }
}

/** Whether a host fetches the bytes of a part itself. */
export function takesAddress(part: ContentPart, host: FlavourName): boolean {
  if (!isMedia(part) || part.type === 'image') return true
  return host === 'mistral' || (host === 'openrouter' && part.type === 'file')
}
