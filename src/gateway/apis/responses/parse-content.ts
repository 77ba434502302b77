import { JsonText } from '../../../platform/bodies/index.ts'
import type { ContentPart, ImagePart, MessageContent } from '../../conversation/index.ts'
import {
  type FieldPath,
  invalid,
  isPresent,
  readChoice,
  readList,
  readName,
  readObject,
  readPromptText,
  readText,
  requestLimits,
  unsupported,
} from '../limits.ts'
import { readAudioData, readFileData, readImageUrl, readWebAddress } from '../media.ts'
import { nameUnknown, type Reading } from './reading.ts'

/** Members of a part that are read; the others are named in `x-ignored-params`. */
export const partMembers = [
  'type',
  'text',
  'annotations',
  'logprobs',
  'refusal',
  'image_url',
  'file_id',
  'detail',
  'file_data',
  'file_url',
  'filename',
  'input_audio',
  'prompt_cache_breakpoint',
] as const

/** Who sent the content: only users and tools send media, and only the model refuses. */
export type ContentOf = 'instruction' | 'user' | 'assistant' | 'tool'

/** Fields that may hold long texts or media, which stay bytes. */
export const longFields: ReadonlySet<string> = new Set(['content', 'output', 'text', 'image_url', 'file_data', 'data'])

/** A string, or the parts of a message or of a tool's output. Throws AppError with the field. */
export function readContent(value: unknown, path: FieldPath, of: ContentOf, reading: Reading): MessageContent {
  if (typeof value === 'string' || value instanceof JsonText) return value
  const parts = readList(value, path, requestLimits.partsPerMessage).map((part, index) =>
    readPart(part, [...path, index], of, reading),
  )
  const [first] = parts
  if (first === undefined) return ''
  if (parts.length === 1 && first.type === 'text' && !first.cache) return first.text
  return parts
}

type PartReader = (part: Record<string, unknown>, path: FieldPath, reading: Reading) => ContentPart

const readers: Record<string, PartReader> = {
  input_text: readTextPart,
  output_text: readTextPart,
  refusal: (part, path) => ({ type: 'refusal', text: readText(part.refusal, [...path, 'refusal']) }),
  input_image: readImagePart,
  input_file: readFilePart,
  input_audio: readAudioPart,
}

const typesOf: Record<ContentOf, readonly string[]> = {
  instruction: ['input_text'],
  user: ['input_text', 'input_image', 'input_file', 'input_audio'],
  // Some clients send the texts of earlier answers back as input.
  assistant: ['output_text', 'refusal', 'input_text'],
  tool: ['input_text', 'input_image', 'input_file'],
}

function readPart(value: unknown, path: FieldPath, of: ContentOf, reading: Reading): ContentPart {
  const part = readObject(value, path)
  nameUnknown(part, partMembers, 'input.content.', reading)
  const type = readChoice(part.type, [...path, 'type'], typesOf[of])
  return readers[type]!(part, path, reading)
}

function readTextPart(part: Record<string, unknown>, path: FieldPath): ContentPart {
  const text = readPromptText(part.text, [...path, 'text'])
  return isPresent(part.prompt_cache_breakpoint) ? { type: 'text', text, cache: {} } : { type: 'text', text }
}

function readImagePart(part: Record<string, unknown>, path: FieldPath, reading: Reading): ImagePart {
  refuseFileId(part, path, 'send the image as `image_url`, an address or a data URL')
  if (++reading.images > requestLimits.images)
    throw invalid(path, `is one image too many: a request has at most ${requestLimits.images}`)
  const image: ImagePart = {
    type: 'image',
    source: readImageUrl(readPromptText(part.image_url, [...path, 'image_url']), [...path, 'image_url']),
  }
  if (isPresent(part.detail)) {
    const detail = readChoice(part.detail, [...path, 'detail'], ['auto', 'low', 'high', 'original'])
    if (detail === 'original') reading.adjusted.add('input.content.detail')
    image.detail = detail === 'original' ? 'high' : detail
  }
  if (isPresent(part.prompt_cache_breakpoint)) image.cache = {}
  return image
}

function readFilePart(part: Record<string, unknown>, path: FieldPath): ContentPart {
  refuseFileId(part, path, 'send the file as `file_data`, base64 or a data URL, or its address as `file_url`')
  const field = isPresent(part.file_data) ? 'file_data' : 'file_url'
  if (!isPresent(part[field])) throw invalid(path, 'must have `file_data` or `file_url`')
  const text = readPromptText(part[field], [...path, field])
  const source = field === 'file_data' ? readFileData(text, [...path, field]) : readWebAddress(text, [...path, field])
  return {
    type: 'file',
    source,
    ...(isPresent(part.filename) && { name: readName(part.filename, [...path, 'filename']) }),
    ...(isPresent(part.prompt_cache_breakpoint) && { cache: {} }),
  }
}

function readAudioPart(part: Record<string, unknown>, path: FieldPath): ContentPart {
  const at = [...path, 'input_audio']
  const audio = readObject(part.input_audio, at)
  const format = readText(audio.format, [...at, 'format'])
  return { type: 'audio', source: readAudioData(format, readPromptText(audio.data, [...at, 'data']), [...at, 'data']) }
}

function refuseFileId(part: Record<string, unknown>, path: FieldPath, instead: string): void {
  if (isPresent(part.file_id)) throw unsupported([...path, 'file_id'], `Portico stores no files; ${instead}`)
}
