import type { SignatureV4 } from '@smithy/signature-v4'
import { type EndSignal, raceSignal, userAgent, invalidField } from '../../../platform/kernel/index.ts'
import type { ProviderSettings } from '../port.ts'
import { hashBody } from '../encode-body.ts'
import type { EncodedRequest } from '../wire-adapter.ts'
import { failure } from '../wire-failure.ts'
import { requireRegion } from './addresses.ts'

interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

type LoadAwsCredentials = () => Promise<AwsCredentials>

export interface AuthorizeOptions {
  /** Used if `settings.credentials` is absent; default: AWS's default credential chain. */
  loadCredentials?: LoadAwsCredentials
  /** For tests; default: the wall clock. */
  now?: () => Date
}

/**
 * Headers that authorize a request: a bearer token if the operator gave a Bedrock API key, else a signature (SigV4) over path, host,
 * content type and body. Headers added later are not part of the signature and do not invalidate it.
 */
export function createAuthorize(
  settings: ProviderSettings,
  options: AuthorizeOptions = {},
): (request: EncodedRequest, signal: EndSignal) => Promise<Record<string, string>> {
  if (settings.apiKey) {
    const headers = { authorization: `Bearer ${settings.apiKey}` }
    return async () => headers
  }
  const load = settings.credentials
    ? fixedCredentials(settings.credentials)
    : (options.loadCredentials ?? createDefaultChain())
  const region = requireRegion(settings)
  let signer: Promise<SignatureV4> | undefined

  async function sign(request: EncodedRequest): Promise<Record<string, string>> {
    const headers = await toSignedHeaders(request)
    const url = new URL(request.url)
    const query = Object.fromEntries(url.searchParams)
    const signed = await (
      await (signer ??= createSigner(region, load))
    ).sign(
      { method: request.method, protocol: url.protocol, hostname: url.hostname, path: url.pathname, query, headers },
      { signingDate: (options.now ?? (() => new Date()))() },
    )
    const { host: _, 'content-type': __, ...added } = signed.headers
    return added
  }

  return (request, signal) => raceSignal(sign(request).catch(rejectWithoutSecrets), signal)
}

/** Loaded on first use: providers other than AWS must not slow down the start. */
async function createSigner(region: string, credentials: LoadAwsCredentials): Promise<SignatureV4> {
  const [{ SignatureV4: Signer }, { Sha256 }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@aws-crypto/sha256-js'),
  ])
  return new Signer({ service: 'bedrock', region, credentials, sha256: Sha256 })
}

/**
 * The payload's hash is computed here and passed in a header: node's SHA-256 is many times faster on long prompts than the signer's
 * portable one.
 */
async function toSignedHeaders(request: EncodedRequest): Promise<Record<string, string>> {
  const contentType = request.headers['content-type']
  return {
    host: new URL(request.url).host,
    ...(contentType !== undefined && { 'content-type': contentType }),
    'x-amz-content-sha256': await hashBody(request.body),
  }
}

/** `accessKeyId:secretAccessKey[:sessionToken]`; none of the three contains a colon. */
function fixedCredentials(text: string): LoadAwsCredentials {
  const [accessKeyId, secretAccessKey, sessionToken] = text.split(':').map((piece) => piece.trim())
  if (!accessKeyId || !secretAccessKey) {
    throw invalidField('credentials', 'AWS credentials are written accessKeyId:secretAccessKey[:sessionToken].')
  }
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  return async () => credentials
}

/** Environment, shared files, SSO, web identity, container and instance metadata; kept until shortly before they expire. */
function createDefaultChain(): LoadAwsCredentials {
  let chain: Promise<LoadAwsCredentials> | undefined
  return async () => {
    chain ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) =>
      defaultProvider({ clientConfig: { customUserAgent: userAgent } }),
    )
    return (await chain)()
  }
}

/** Messages of the chain name profiles and files, so they are kept in the cause. */
function rejectWithoutSecrets(cause: unknown): never {
  throw failure('authentication', 'No AWS credentials could be used for this provider.', { cause })
}
