/** Images and PDF files of a message. They are checked before they are sent, and stay in this page. */

export interface Attachment {
  id: number
  name: string
  kind: 'image' | 'pdf'
  mediaType: string
  bytes: number
  dataUrl: string
}

/** `requestLimits` of src/gateway/apis/limits.ts, and what fits a body of 33 MiB as base64; a test compares them. */
export const attachmentLimits = { fileBytes: 20 * 1024 * 1024, images: 100, conversationBytes: 24 * 1024 * 1024 }

export const acceptedTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf']

export type AttachmentProblem = 'type' | 'empty' | 'fileBytes' | 'images' | 'conversationBytes' | 'unreadable'

export interface RefusedFile {
  name: string
  problem: AttachmentProblem
}

let nextId = 1

/** Reads the files that can be sent in addition to those of the conversation. */
export async function readAttachments(
  files: readonly File[],
  earlier: readonly Attachment[],
): Promise<{ attachments: Attachment[]; refused: RefusedFile[] }> {
  const attachments: Attachment[] = []
  const refused: RefusedFile[] = []
  for (const file of files) {
    const read = await readAttachment(file, [...earlier, ...attachments])
    if (typeof read === 'string') refused.push({ name: file.name, problem: read })
    else attachments.push(read)
  }
  return { attachments, refused }
}

async function readAttachment(file: File, others: readonly Attachment[]): Promise<Attachment | AttachmentProblem> {
  const { name, size: bytes } = file
  if (bytes === 0) return 'empty'
  if (bytes > attachmentLimits.fileBytes) return 'fileBytes'
  if (bytes + others.reduce((sum, other) => sum + other.bytes, 0) > attachmentLimits.conversationBytes)
    return 'conversationBytes'
  try {
    // The content decides, not the name: the gateway refuses a type that the content does not have.
    const mediaType = typeOf(new Uint8Array(await file.slice(0, 16).arrayBuffer()))
    if (mediaType === undefined) return 'type'
    const kind = mediaType === 'application/pdf' ? 'pdf' : 'image'
    if (kind === 'image' && others.filter((other) => other.kind === 'image').length >= attachmentLimits.images)
      return 'images'
    const dataUrl = await readDataUrl(new Blob([file], { type: mediaType }))
    return { id: nextId++, name, kind, mediaType, bytes, dataUrl }
  } catch {
    return 'unreadable'
  }
}

/** By the first bytes, as the gateway reads them. */
function typeOf(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes)
  if (text.startsWith('\u0089PNG\r\n\u001A\n')) return 'image/png'
  if (text.startsWith('\u00FF\u00D8\u00FF')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'image/webp'
  return text.startsWith('%PDF-') ? 'application/pdf' : undefined
}

function readDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file cannot be read')))
    reader.readAsDataURL(blob)
  })
}
