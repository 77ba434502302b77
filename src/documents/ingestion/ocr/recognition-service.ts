import { isObject, readAtMost, userAgent } from '../../../platform/kernel/index.ts'

/** A picture file: png, jpeg, webp or tiff. */
export interface PictureFile {
  bytes: Uint8Array<ArrayBuffer>
  mimeType: string
}

/** Another program of the operator that recognises text. */
export interface RecognitionService {
  /**
   * The text of a picture, '' where it shows none, or null where the service cannot read it. `languages`: codes such as `deu`. Throws
   * RecognitionServiceError where another try can succeed.
   */
  recognise(picture: PictureFile, languages: readonly string[], signal: AbortSignal): Promise<string | null>
}

/** The service did not answer, or not in its form: a retry can succeed. */
export class RecognitionServiceError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RecognitionServiceError'
  }
}

export type RecognitionServiceKind = 'docling' | 'tika'

export interface RecognitionServiceOptions {
  kind: RecognitionServiceKind
  /** Base address; the path of the request is appended. */
  url: string
  fetch: typeof fetch
  /** Longest time for a picture. */
  timeoutMs: number
}

interface Call {
  path: string
  method: 'POST' | 'PUT'
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer>
}

interface Dialect {
  call(picture: PictureFile, languages: readonly string[]): Call | Promise<Call>
  /** The text in the body of an answer; undefined: it has another form. Null: the picture cannot be read. */
  textOf(body: string): string | null | undefined
}

/** A dense page has 10,000 characters. */
const maximumAnswerBytes = 1024 * 1024
/** Answers that are about the picture: both services use 422, Tika 415 for a type that it does not know. */
const unreadable = new Set([413, 415, 422])

const dialects: Record<RecognitionServiceKind, Dialect> = {
  // https://cwiki.apache.org/confluence/display/TIKA/TikaServer and https://cwiki.apache.org/confluence/display/TIKA/TikaOCR
  tika: {
    call({ bytes, mimeType }, languages) {
      const language: Record<string, string> = languages.length > 0 ? { 'x-tika-ocrlanguage': languages.join('+') } : {}
      const headers = { accept: 'text/plain', 'content-type': mimeType, ...language }
      return { path: '/tika', method: 'PUT', headers, body: bytes }
    },
    textOf: (body) => body,
  },
  // https://github.com/docling-project/docling-serve/blob/main/docs/usage.md; codes of languages depend on its engine.
  docling: {
    async call({ bytes, mimeType }) {
      const form = new FormData()
      form.set('files', new Blob([bytes], { type: mimeType }), `page.${mimeType.slice('image/'.length)}`)
      form.set('from_formats', 'image')
      form.set('to_formats', 'text')
      form.set('image_export_mode', 'placeholder')
      const encoded = new Response(form)
      const headers = { accept: 'application/json', 'content-type': encoded.headers.get('content-type')! }
      return { path: '/v1/convert/file', method: 'POST', headers, body: new Uint8Array(await encoded.arrayBuffer()) }
    },
    textOf(body) {
      const answer = parse(body)
      if (!isObject(answer) || typeof answer.status !== 'string') return undefined
      if (answer.status === 'failure' || answer.status === 'skipped') return null
      const text = isObject(answer.document) ? answer.document.text_content : undefined
      return typeof text === 'string' ? text : undefined
    },
  },
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

export function createRecognitionService({
  kind,
  url,
  fetch,
  timeoutMs,
}: RecognitionServiceOptions): RecognitionService {
  const dialect = dialects[kind]
  const base = url.replace(/\/+$/, '')
  const fault = (what: string) => new RecognitionServiceError(`the text recognition service (${kind}) ${what}`)

  async function ask({ path, method, headers, body }: Call, signal: AbortSignal): Promise<string | null> {
    const answer = await fetch(base + path, {
      method,
      headers: { 'user-agent': userAgent, ...headers },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      // A redirect could lead to an address that the settings would not accept.
      redirect: 'manual',
    })
    if (answer.status !== 200) await answer.body?.cancel()
    if (answer.status === 204) return ''
    if (unreadable.has(answer.status)) return null
    if (answer.status !== 200) throw fault(`answered with ${answer.status}`)
    const bytes = await readAtMost(answer.body, maximumAnswerBytes)
    if (!bytes) return null
    const text = dialect.textOf(bytes.toString('utf8'))
    if (text === undefined) throw fault('answered in an unknown form')
    return text
  }

  return {
    async recognise(picture, languages, signal) {
      const call = await dialect.call(picture, languages)
      try {
        return await ask(call, signal)
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof RecognitionServiceError ? error : fault('did not answer')
      }
    },
  }
}
