import { isParts, type MediaPart, type MediaSource } from '../conversation/index.ts'
import { anySignal, publicNetworks, sharedOwner } from '../../platform/kernel/index.ts'
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts'
import { exchange, readWhole } from './http-exchange.ts'
import { isMedia } from './media.ts'
import type { ProviderCall } from './port.ts'
import type { WireAdapter } from './wire-adapter.ts'
import { failure } from './wire-failure.ts'

/** Bounds of all media that are fetched for one call. */
const maximumFetchedBytes = 20 * 1024 * 1024
const fetchTimeoutMs = 10_000
/** Connections of one provider's calls to the hosts of media. */
const mediaConnections = 32

type TakesAddress = NonNullable<WireAdapter['takesAddress']>

/** Connections to public networks only. */
export function createMediaPool(
  given: Pick<Parameters<typeof createConnectionPool>[0], 'proxies' | 'certificateAuthority'>,
) {
  return createConnectionPool({ ...given, limits: { maximumConnections: mediaConnections }, rule: publicNetworks() })
}

/** Whether a part has an address that the host does not fetch itself. */
export function needsBytes({ request }: ProviderCall, takesAddress: TakesAddress = () => false): boolean {
  return request.messages.some(
    ({ content }) => isParts(content) && content.some((part) => isMedia(part) && isForeign(part, takesAddress)),
  )
}

const isForeign = (part: MediaPart, takesAddress: TakesAddress) => part.source.kind === 'url' && !takesAddress(part)

/**
 * The call with the bytes of such parts. Only public addresses are fetched, without redirects, within 20 MiB and 10 s for the whole call.
 * The type is that of the bytes, whatever the host of the address states.
 */
export async function withFetchedMedia(
  call: ProviderCall,
  takesAddress: TakesAddress = () => false,
  pool: ConnectionPool,
  timeoutMs = fetchTimeoutMs,
): Promise<ProviderCall> {
  const signal = anySignal(call.signal, AbortSignal.timeout(timeoutMs))
  const fetched = new Map<string, MediaSource>()
  let left = maximumFetchedBytes
  const owner = call.tenant ?? sharedOwner
  const localise = async (part: MediaPart): Promise<MediaPart> => {
    if (part.source.kind !== 'url' || takesAddress(part)) return part
    const { url } = part.source
    const known = fetched.get(url)
    if (known) return { ...part, source: known }
    const bytes = await fetchBytes(url, { owner, signal, maximumBytes: left, pool }).catch((error: unknown) => {
      call.signal.throwIfAborted()
      throw refusedMedia(url, error)
    })
    left -= bytes.length
    const mediaType = typeOf(bytes)
    if (mediaType === null) throw refusedMedia(url, 'unknown type')
    const source = { kind: 'base64' as const, mediaType, data: bytes.toString('base64') }
    fetched.set(url, source)
    return { ...part, source }
  }
  const messages = []
  for (const message of call.request.messages) {
    if (!isParts(message.content)) messages.push(message)
    else {
      const content = []
      for (const part of message.content) content.push(isMedia(part) ? await localise(part) : part)
      messages.push({ ...message, content })
    }
  }
  return { ...call, request: { ...call.request, messages } }
}

async function fetchBytes(
  url: string,
  {
    owner,
    signal,
    maximumBytes,
    pool,
  }: { owner: string; signal: AbortSignal; maximumBytes: number; pool: ConnectionPool },
): Promise<Buffer> {
  const { protocol } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') throw new RangeError('no web address')
  const answer = await exchange({
    owner,
    dispatcher: pool.dispatcher,
    request: { method: 'GET', url, headers: {}, body: '' },
    headers: { accept: '*/*' },
    signal,
    maximumBytes,
    onClosed: () => {},
  })
  if (answer.status !== 200) {
    answer.abandon()
    throw new RangeError(`status ${answer.status}`)
  }
  return Buffer.from(await readWhole(answer.body))
}

function refusedMedia(url: string, cause: unknown) {
  const host = URL.parse(url)?.host ?? 'its host'
  return failure(
    'invalid_request',
    `The media at ${host.slice(0, 100)} could not be fetched: they must be a public image, PDF or recording of at most 20 MiB.`,
    { status: 400, param: 'messages', code: 'invalid_media', cause },
  )
}

/** By the first bytes of the format. */
function typeOf(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, 12)
  if (start.startsWith('\x89PNG')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(start)) return 'image/gif'
  if (/^RIFF.{4}WEBP/s.test(start)) return 'image/webp'
  if (start.startsWith('%PDF-')) return 'application/pdf'
  if (/^RIFF.{4}WAVE/s.test(start)) return 'audio/wav'
  return /^(ID3|\xff[\xe2-\xfb])/.test(start) ? 'audio/mpeg' : null
}
