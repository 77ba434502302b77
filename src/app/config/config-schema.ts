import { isIP } from 'node:net'
import { z } from 'zod'
import { flag, integer, list, megabyte } from './fields.ts'
import { model, provider } from './models.ts'
import { telemetry } from './telemetry.ts'
import { claimName, emailDomain, singleSignOnClientId, singleSignOnName } from '../../contract/single-sign-on.ts'
import { roles } from '../../platform/kernel/index.ts'

/**
 * The configuration file (portico.yaml). `scripts/write-config-schema.ts` publishes it as docs/reference/portico.schema.json for editors. All
 * objects are strict: an unknown setting is an error at start. Numbers and booleans may arrive as text from the environment.
 */

const networks = list(
  z.string().refine(isNetwork, { error: 'must be an IP address or a network such as 10.0.0.0/8' }),
  100,
)

const server = z.strictObject({
  role: z
    .enum(roles)
    .default('all')
    .describe(
      'What this process does: the gateway, everything else over HTTP (`api`), background work (`worker`), or all of it. Roles need a PostgreSQL server.',
    ),
  processes: integer(1, 64)
    .default(1)
    .describe(
      'Processes of this role that share the port. Each of them is an instance with its own limits and connections. More than one needs a PostgreSQL server.',
    ),
  port: integer(0, 65_535).default(8080).describe('Port of the public HTTP server; 0: a free port.'),
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all.'),
  publicUrl: z
    .url()
    .optional()
    .describe(
      'Address under which clients reach this service: for printed text, OpenAPI, invitation links and the cookies of sessions.',
    ),
  maximumJsonBytes: integer(1024, 1024 * megabyte)
    .default(33 * megabyte)
    .describe('Largest JSON body of completions and Space chats.'),
  maximumJsonBytesInFlight: integer(1024, 1024 * 1024 * megabyte)
    .default(256 * megabyte)
    .describe(
      'Limit for the JSON bodies of all requests in flight; one organisation may use half. At least twice maximumJsonBytes.',
    ),
  stalledClientMs: integer(100, 3_600_000)
    .default(60_000)
    .describe('A client that reads nothing of its answer for this time is disconnected. The generated text is billed.'),
  slowHeadersMs: integer(100, 600_000)
    .default(30_000)
    .describe('Longest time for the headers of a request, also of the first one of a connection.'),
  slowBodyMs: integer(100, 600_000)
    .default(30_000)
    .describe(
      'Time for the body of a request. Each 8 KiB that have arrived add a second; all of it has 10 minutes, except the archive of a Space.',
    ),
  maximumConnections: integer(1, 1_000_000)
    .default(10_000)
    .describe('Open connections. From nine tenths on idle ones are closed, and above it new ones.'),
  maximumRunningRequests: integer(2, 1_000_000)
    .default(8_192)
    .describe(
      'Requests of organisations that run at the same time on this instance, streams included; one organisation may run half. ' +
        'Further ones get 503, or 429.',
    ),
  maximumEventLoopDelayMs: integer(10, 60_000)
    .default(500)
    .describe(
      'If the event loop is late by this time, measured over a second, organisations with many requests get 503.',
    ),
  maximumMemoryPercent: integer(1, 100)
    .default(90)
    .describe(
      'If the process uses more of the memory of its container or machine, or of its heap, further requests of organisations get 503.',
    ),
  shutdownGraceMs: integer(0, 3_600_000).default(30_000).describe('How long streams may finish after SIGTERM.'),
  shutdownDelayMs: integer(0, 600_000)
    .default(0)
    .describe(
      'How long requests are still accepted after SIGTERM, while /readyz is 503: time for load balancers to choose another instance.',
    ),
  trustProxy: networks
    .default([])
    .describe(
      'Addresses and networks of reverse proxies whose X-Forwarded-For, -Proto and -Host state the address of the client and of the service.',
    ),
})

const group = z.string().min(1).max(500).describe('A value of the groups claim.')

const singleSignOn = z.strictObject({
  name: singleSignOnName.default('single sign-on').describe('Label on the sign-in page.'),
  issuer: z
    .url({ protocol: /^https?$/ })
    .describe('Issuer of the OpenID Connect provider, exactly as its discovery document states it.'),
  clientId: singleSignOnClientId.describe('Id of Portico at the provider.'),
  scopes: list(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'must be a scope without spaces'), 20)
    .default(['openid', 'email', 'profile'])
    .describe('Scopes to request. `openid` is always requested.'),
  verifiedClaim: claimName
    .default('email_verified')
    .describe('Claim that states that the email is verified; `xms_edov` for Microsoft Entra.'),
  groupsClaim: claimName.default('groups').describe('Claim with the groups of the person.'),
  roles: z
    .array(
      z.union([
        z.strictObject({ group, role: z.literal('operator') }),
        z.strictObject({ group, role: z.enum(['administrator', 'member']), organisation: z.uuid().toLowerCase() }),
      ]),
    )
    .max(1000)
    .default([])
    .describe('Role that each group gives: operator, or administrator or member of the organisation with this id.'),
  createAccounts: flag
    .default(true)
    .describe('Create an account at the first sign-in. false: only for people with an open invitation.'),
  allowedEmailDomains: list(emailDomain, 100).default([]).describe('Domains that may sign in; empty: all.'),
  sessionHours: integer(1, 720)
    .default(12)
    .describe('A session of single sign-on ends after this time, so that groups are read again.'),
})

const accounts = z.strictObject({
  passwordSignIn: flag.default(true).describe('false: only single sign-on. The operator token stays valid.'),
  singleSignOn: singleSignOn.optional().describe('OpenID Connect. The secret is PORTICO_SSO_CLIENT_SECRET.'),
})

const metrics = z.strictObject({
  port: integer(0, 65_535)
    .default(9464)
    .describe(
      'Port of GET /metrics. If it is not set and 9464 is in use, a free port is used. Several processes use consecutive ports.',
    ),
  host: z.string().min(1).default('127.0.0.1').describe('Address of GET /metrics.'),
  enabled: flag.default(true).describe('false: no metrics port.'),
})

const documents = z.strictObject({
  maximumUploadBytes: integer(1024, 10_240 * megabyte)
    .default(100 * megabyte)
    .describe('Largest uploaded file.'),
  maximumImportBytes: integer(1024, 1_024 * 1_024 * megabyte)
    .default(4_096 * megabyte)
    .describe('Largest archive of a Space that an import accepts.'),
  blobs: z
    .strictObject({
      kind: z
        .enum(['folder', 's3'])
        .default('folder')
        .describe('Where uploaded files are stored: in `blobs` of the data folder, or in an object store.'),
      bucket: z.string().optional().describe('Bucket of the object store.'),
      region: z.string().optional().describe('Region of the object store.'),
      endpoint: z.url().optional().describe('For S3-compatible stores.'),
      prefix: z.string().default('portico/').describe('Prefix of all keys in the bucket.'),
      forcePathStyle: flag.default(false).describe('true: the bucket is in the path of the address, not in its host.'),
    })
    .prefault({}),
})

const embeddings = z.strictObject({
  kind: z
    .enum(['auto', 'hashing', 'onnx', 'provider'])
    .default('auto')
    .describe(
      'auto: the configured model, otherwise the one that operators chose in the console, otherwise the built-in lexical hashing embedder.',
    ),
  model: z.string().optional().describe('A catalogue model (provider) or a hub id (onnx).'),
  folder: z.string().optional().describe('Folder with the weights of a local ONNX model.'),
  dimensions: integer(16, 4000).optional().describe('Length of the vectors, for models that offer several.'),
})

const reranker = z.strictObject({
  kind: z
    .enum(['auto', 'none', 'onnx', 'provider'])
    .default('auto')
    .describe('auto: the configured model, otherwise none: passages keep the order of the search.'),
  model: z.string().min(1).optional().describe('A catalogue model of kind rerank (provider) or a hub id (onnx).'),
  folder: z.string().min(1).optional().describe('Folder with the weights of a local ONNX cross-encoder.'),
  passages: integer(2, 100).default(40).describe('Best passages of a search that are compared with the question.'),
  timeoutMs: integer(300, 10_000)
    .default(2_000)
    .describe('Longest wait for the comparison; then the order of the search is used.'),
})

const database = z.strictObject({
  maximumConnections: integer(2, 500)
    .default(10)
    .describe(
      'Most connections of this process to a PostgreSQL server for the statements of requests and jobs, for each logical database.',
    ),
  connectionWaitMs: integer(100, 60_000)
    .default(10_000)
    .describe('Longest wait for a free connection; then a request is answered with 503.'),
  statementTimeoutMs: integer(1_000, 600_000)
    .default(30_000)
    .describe(
      'Longest duration of a statement of a request on a PostgreSQL server; then the request is answered with 503.',
    ),
  backgroundStatementTimeoutMs: integer(1_000, 3_600_000)
    .default(120_000)
    .describe('The same for statements of background work. Index builds and reports have separate limits.'),
  lockTimeoutMs: integer(100, 600_000)
    .default(10_000)
    .describe(
      'Longest wait of a statement for a lock on a PostgreSQL server. Migrations and index builds have separate limits.',
    ),
  replicaWaitMs: integer(0, 10_000)
    .default(250)
    .describe(
      'Longest wait of a report or search until the server of DATABASE_REPLICA_URL has everything that was stored before; then the primary is read.',
    ),
})

export const configFileSchema = z.strictObject({
  server: server.prefault({}),
  accounts: accounts.prefault({}),
  metrics: metrics.prefault({}),
  telemetry: telemetry.prefault({}),
  dataFolder: z
    .string()
    .min(1)
    .default('data')
    .describe('Folder of the embedded database, the blobs and the generated secret key.'),
  database: database.prefault({}),
  demo: flag.default(true).describe('Make a demo organisation and Space at the first start.'),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .describe('Least severe lines that are written.'),
      format: z
        .enum(['auto', 'json', 'text', 'pretty'])
        .default('auto')
        .describe('json: one object per line; text or pretty: for people; auto: text on a terminal, otherwise json.'),
    })
    .prefault({}),
  network: z
    .strictObject({
      caFile: z.string().optional().describe('PEM file of further certificate authorities.'),
      webhookNetworks: networks
        .default([])
        .describe(
          'Private addresses and networks that webhooks may reach. Without it they reach the public internet only.',
        ),
      importNetworks: networks
        .default([])
        .describe(
          'Private addresses and networks whose web pages can become documents. With it, other ports than 80 and 443 are allowed.',
        ),
      toolNetworks: networks
        .default([])
        .describe('Private addresses and networks whose services can be tools of Spaces, also without https.'),
    })
    .prefault({}),
  mail: z
    .strictObject({
      host: z
        .string()
        .min(1)
        .optional()
        .describe('Mail server (SMTP) that sends alerts; needs `from`. Without it, no e-mail is sent.'),
      port: integer(1, 65_535).default(587).describe('Port of the mail server.'),
      encryption: z
        .enum(['starttls', 'tls', 'none'])
        .default('starttls')
        .describe('`tls`: from the first byte, usually port 465. `none`: only for a server on the same machine.'),
      user: z.string().min(1).optional().describe('Name at the mail server. The password is PORTICO_MAIL_PASSWORD.'),
      from: z.string().min(3).max(320).optional().describe('Sender of the e-mails: `Portico <portico@example.org>`.'),
    })
    .refine(({ host, from }) => (host === undefined) === (from === undefined), {
      error: '`host` and `from` belong together',
      path: ['from'],
    })
    .prefault({}),
  ollama: z
    .strictObject({
      url: z.url().default('http://127.0.0.1:11434').describe('Address of Ollama.'),
      detect: flag.default(true).describe('Offer the models of a running Ollama.'),
    })
    .prefault({}),
  providers: z.array(provider).default([]).describe('Connections to AI providers, see docs/operate/providers.md.'),
  models: z.array(model).default([]).describe('Declared models, see docs/operate/models.md.'),
  documents: documents.prefault({}),
  embeddings: embeddings.prefault({}),
  reranker: reranker.prefault({}),
  ingestion: z
    .strictObject({
      workers: integer(0, 64)
        .default(2)
        .describe(
          'Extraction processes, at least two: one is reserved for small documents. 0: this instance processes no documents.',
        ),
      // 100 MiB of English text make 95,000.
      maximumChunks: integer(2_000, 1_000_000)
        .default(100_000)
        .describe('Most chunks of one document. A file of more fails with `too_complex` before it is embedded.'),
    })
    .prefault({}),
  ocr: z
    .strictObject({
      service: z
        .enum(['tika', 'docling'])
        .optional()
        .describe(
          'Another program that recognises the text of pictures: Apache Tika Server or Docling Serve. Without it, the engine of `npm run install:ocr`.',
        ),
      url: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('Base address of the service, such as http://127.0.0.1:9998. It receives pictures of pages.'),
    })
    .refine(({ service, url }) => (service === undefined) === (url === undefined), {
      error: '`service` and `url` belong together',
      path: ['url'],
    })
    .prefault({}),
  ledger: z
    .strictObject({
      journal: z
        .enum(['auto', 'database', 'local'])
        .default('auto')
        .describe(
          'Where holds and settlements become durable: in the control database, or first in a journal in the data folder. ' +
            '`auto`: `local` with the embedded database, `database` with a server, which allows no `local`.',
        ),
      keepEntriesDays: integer(62, 36_500)
        .optional()
        .describe(
          'Ledger entries (receipts, and the single requests of usage reports) of calls that began more than this many days ago are ' +
            'removed. Sums stay. At least two budget months: the running one and the one before. Without it, all are kept.',
        ),
    })
    .prefault({}),
  adminLog: z
    .strictObject({
      keepDays: integer(30, 36_500)
        .optional()
        .describe(
          'Entries of the admin log that are more than this many days old are removed. Without it, all are kept.',
        ),
    })
    .prefault({}),
  search: z
    .strictObject({
      memoryMegabytes: integer(0, 4096)
        .default(1024)
        .describe(
          'Limit of memory for searching the Spaces of the embedded database; 0: search in the database. With LanceDB: of its cache.',
        ),
      engine: z
        .enum(['database', 'lance'])
        .default('database')
        .describe(
          'database: in memory with the embedded database, by indexes with a server. lance: large Spaces by LanceDB, with either.',
        ),
      lanceAddress: z
        .string()
        .min(1)
        .optional()
        .describe(
          "LanceDB's folder, or `s3://bucket/prefix` with the region, endpoint and keys of the blob store. Without it: `lance` of the data folder.",
        ),
    })
    .prefault({}),
  chat: z
    .strictObject({
      defaultModel: z
        .string()
        .min(1)
        .default('portico/offline')
        .describe('Model of new Spaces that are created without one.'),
    })
    .prefault({}),
})

export type ConfigFile = z.output<typeof configFileSchema>

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = isIP(address) === 6 ? 128 : 32
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  )
}
