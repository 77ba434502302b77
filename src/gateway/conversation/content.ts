import { isBlankText, joinTexts, type JsonText } from '../../platform/bodies/index.ts'

/** A long text of a request's body is not decoded. Adapters put either form into the body that they build. */
export type PromptText = string | JsonText

/** Where the bytes of an image, a file or audio are. Base64 data stay as the client sent them. */
export type MediaSource =
  | { kind: 'base64'; mediaType: string; data: PromptText }
  /** `field`: of the client's request, for errors. */
  | { kind: 'url'; url: string; field?: string }

/** The provider's cache may keep the prompt up to here; hosts without marks cache by themselves. */
export interface CacheMark {
  ttl?: '5m' | '1h'
}

export interface TextPart {
  type: 'text'
  text: PromptText
  cache?: CacheMark
}

export interface ImagePart {
  type: 'image'
  source: MediaSource
  /** Resolution at which the model reads it. */
  detail?: 'auto' | 'low' | 'high'
  cache?: CacheMark
}

/** A PDF or another document. */
export interface FilePart {
  type: 'file'
  source: MediaSource
  name?: string
  cache?: CacheMark
}

/** WAV or MP3. */
export interface AudioPart {
  type: 'audio'
  source: MediaSource
}

/** Of assistant turns: the text with which the model declined. */
export interface RefusalPart {
  type: 'refusal'
  text: string
}

export type MediaPart = ImagePart | FilePart | AudioPart
export type ContentPart = TextPart | MediaPart | RefusalPart

export type MessageContent = PromptText | readonly ContentPart[]

export function isParts(content: MessageContent): content is readonly ContentPart[] {
  return Array.isArray(content)
}

export function partsOf(content: MessageContent): readonly ContentPart[] {
  return isParts(content) ? content : [{ type: 'text', text: content }]
}

/** The texts of a message, refusals included, without its media; a content that is one text is returned as it is. */
export function textOfContent(content: MessageContent): PromptText {
  if (!isParts(content)) return content
  const [first] = content
  if (content.length === 1 && first!.type === 'text') return first!.text
  return joinTexts(
    content.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])),
    '',
  )
}

/** Whether a message shows nothing: no media, and no text but white space. */
export function isBlankContent(content: MessageContent): boolean {
  if (!isParts(content)) return isBlankText(content)
  return content.every((part) => (part.type === 'text' || part.type === 'refusal') && isBlankText(part.text))
}

/** One content after the other, with a blank line between two texts. */
export function joinContents(contents: readonly MessageContent[]): MessageContent {
  const separator = '\n\n'
  if (contents.every((content) => !isParts(content))) return joinTexts(contents as readonly PromptText[], separator)
  return contents.flatMap((content, index) => [
    ...(index === 0 ? [] : [{ type: 'text' as const, text: separator }]),
    ...partsOf(content),
  ])
}
